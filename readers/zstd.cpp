#include "readers/input.hpp"

#if TAMIS_HAS_ZSTD
#include <zstd.h>

#include <new>

#include "readers/packed_bytes.hpp"
#endif

namespace tamis::readers {
namespace {

#if TAMIS_HAS_ZSTD
// Windows of up to 128 MiB, which is zstd's own limit unless `--long` was raised: a file cannot ask for more memory than that.
class zstd_input final : public input {
 public:
  explicit zstd_input(std::unique_ptr<input> packed) : packed_(std::move(packed)), stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }

  result<std::size_t> read(std::span<char> room) override {
    for (;;) {
      if (packed_.empty() && !output_waits_) {
        TAMIS_TRY(const bool more, packed_.refill());
        if (!more && inside_) return failure{"cut off: the zstd data ends in the middle"};
        if (!more) return std::size_t{0};
      }
      const std::span<char> from = packed_.rest();
      ZSTD_inBuffer in{from.data(), from.size(), 0};
      ZSTD_outBuffer out{room.data(), room.size(), 0};
      const std::size_t answer = ZSTD_decompressStream(stream_.get(), &out, &in);
      if (ZSTD_isError(answer) != 0) return failure{std::string("damaged zstd data: ") + ZSTD_getErrorName(answer)};
      packed_.use(in.pos);
      inside_ = answer != 0;
      output_waits_ = inside_ && out.pos == out.size;
      if (out.pos != 0) return out.pos;
    }
  }

 private:
  struct free_stream {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };

  packed_bytes packed_;
  std::unique_ptr<ZSTD_DStream, free_stream> stream_;
  bool inside_ = false;        // a frame has begun and not ended
  bool output_waits_ = false;  // in the decoder, for room
};
#else
class zstd_input final : public input {
 public:
  explicit zstd_input(std::unique_ptr<input>) {}
  result<std::size_t> read(std::span<char>) override {
    return failure{"is compressed with zstd, and this tamis was built without libzstd"};
  }
};
#endif

}  // namespace

std::unique_ptr<input> unzstd(std::unique_ptr<input> packed) { return std::make_unique<zstd_input>(std::move(packed)); }

}  // namespace tamis::readers
