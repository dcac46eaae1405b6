#pragma once

namespace trunkline {

// Has the heap of this process live in huge pages and keep what is freed. Most runs last
// milliseconds, a good part of which the kernel would spend on handing out memory page by page, and
// on taking back what is freed only to hand it out again. To be called first thing in a program.
void PrepareHeap();

}  // namespace trunkline
