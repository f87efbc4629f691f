#include "readers/input.hpp"

#if TAMIS_HAS_ZLIB
#include <zlib.h>

#include <algorithm>
#include <climits>
#include <new>

#include "readers/packed_bytes.hpp"
#endif

namespace tamis::readers {
namespace {

#if TAMIS_HAS_ZLIB
class gzip_input final : public input {
 public:
  explicit gzip_input(std::unique_ptr<input> packed) : packed_(std::move(packed)) {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();  // 16: gzip only
  }
  gzip_input(gzip_input&&) = delete;
  ~gzip_input() override { inflateEnd(&stream_); }

  result<std::size_t> read(std::span<char> room) override {
    for (;;) {
      if (packed_.empty() && !output_waits_) {
        TAMIS_TRY(const bool more, packed_.refill());
        if (!more && inside_) return failure{"cut off: the gzip data ends in the middle"};
        if (!more) return std::size_t{0};
      }
      TAMIS_TRY(const std::size_t made, step(room));
      if (made != 0) return made;
    }
  }

 private:
  result<std::size_t> step(std::span<char> room) {
    const std::span<char> from = packed_.rest();
    const std::size_t most = std::min<std::size_t>(room.size(), UINT_MAX);
    stream_.next_in = reinterpret_cast<Bytef*>(from.data());
    stream_.avail_in = static_cast<uInt>(from.size());
    stream_.next_out = reinterpret_cast<Bytef*>(room.data());
    stream_.avail_out = static_cast<uInt>(most);
    if (!from.empty()) inside_ = true;
    const int answer = inflate(&stream_, Z_NO_FLUSH);
    packed_.use(from.size() - stream_.avail_in);
    output_waits_ = stream_.avail_out == 0 && answer != Z_STREAM_END;
    if (answer == Z_STREAM_END) {
      inside_ = false;
      ++members_;
      inflateReset(&stream_);
    } else if (answer == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (answer != Z_OK && answer != Z_BUF_ERROR) {  // the latter: nothing to do without more input
      const std::string reason = stream_.msg != nullptr ? stream_.msg : "it needs a dictionary";
      return failure{"damaged: " + reason + (members_ == 0 ? " in the gzip data" : " after a whole gzip member")};
    }
    return most - stream_.avail_out;
  }

  packed_bytes packed_;
  z_stream stream_{};
  bool inside_ = false;        // a member has begun and not ended
  bool output_waits_ = false;  // in zlib, for room
  std::uint64_t members_ = 0;
};
#else
class gzip_input final : public input {
 public:
  explicit gzip_input(std::unique_ptr<input>) {}
  result<std::size_t> read(std::span<char>) override {
    return failure{"is compressed with gzip, and this tamis was built without zlib"};
  }
};
#endif

}  // namespace

std::unique_ptr<input> gunzipped(std::unique_ptr<input> packed) { return std::make_unique<gzip_input>(std::move(packed)); }

}  // namespace tamis::readers
