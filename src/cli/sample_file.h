#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/output_folder.h"
#include "trunkline/engine/packet_samples.h"
#include "trunkline/fabric/fabric.h"

struct ZSTD_CCtx_s;

namespace trunkline {

inline constexpr const char* kSampleFileName = "samples.jsonl.zst";

// The samples of a run as lines of JSON, compressed. Each is on its way to the disk before the next
// is taken, so whatever ends the process, all but the newest can be read (`zstd -dc`).
class SampleFile final : public PacketSampleSink {
 public:
  SampleFile(std::string path, const Fabric& fabric);

  void Take(const PacketSample& sample) override;
  // Gives the file its name. TL1903 when the disk did not take all of it.
  [[nodiscard]] Result<void> Finish();

 private:
  enum class Then { kFlush, kEnd };
  void Compress(const std::string& text, Then then);

  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  const Fabric& fabric_;
  PendingFile file_;
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::vector<char> buffer_;
  int failure_ = 0;  // errno of the first write that failed
};

}  // namespace trunkline
