#include "cli/sample_file.h"

#include <zstd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "trunkline/base/check.h"
#include "trunkline/report/report.h"

namespace trunkline {

void SampleFile::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

SampleFile::SampleFile(std::string path, const Fabric& fabric)
    : fabric_(fabric),
      file_(std::move(path)),
      context_(ZSTD_createCCtx()),
      buffer_(ZSTD_CStreamOutSize()) {
  TL_CHECK(context_ != nullptr, "no memory for a compressor");
  if (!file_.is_open()) failure_ = errno;
}

void SampleFile::Take(const PacketSample& sample) {
  Compress(RenderSample(sample, fabric_), Then::kFlush);
}

void SampleFile::Compress(const std::string& text, Then then) {
  ZSTD_inBuffer in = {text.data(), text.size(), 0};
  std::size_t left = 1;
  while (left != 0 && failure_ == 0) {
    ZSTD_outBuffer out = {buffer_.data(), buffer_.size(), 0};
    left = ZSTD_compressStream2(context_.get(), &out, &in,
                                then == Then::kEnd ? ZSTD_e_end : ZSTD_e_flush);
    TL_CHECK(ZSTD_isError(left) == 0, "compression", ZSTD_getErrorName(left));
    if (!file_.Append(std::string_view(buffer_.data(), out.pos))) failure_ = errno;
  }
}

Result<void> SampleFile::Finish() {
  Compress("", Then::kEnd);
  if (failure_ == 0 && file_.Finish()) return {};
  if (failure_ != 0) errno = failure_;
  return CannotWrite(file_.target());
}

}  // namespace trunkline
