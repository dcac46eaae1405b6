#include "trunkline/base/heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdlib>

namespace trunkline {

void PrepareHeap() {
#ifdef __GLIBC__
  constexpr std::uintptr_t kHugePage = 2 << 20;
  constexpr std::uintptr_t kRoom = 64 << 20;  // of addresses: memory is taken when it is used
  mallopt(M_MMAP_THRESHOLD, 32 << 20);        // the largest that glibc takes
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, kRoom);
  // A block that is never touched, from where the heap ends to where huge pages can begin.
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  const std::uintptr_t size = 2 * kHugePage - end % kHugePage;
  static void* const block = std::malloc(size);
  if (block == nullptr) return;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(block) + size) | (kHugePage - 1);
  madvise(reinterpret_cast<void*>(begin + 1), kRoom - kHugePage, MADV_HUGEPAGE);
#endif
}

}  // namespace trunkline
