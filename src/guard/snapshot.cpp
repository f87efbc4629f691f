#include "snapshot.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <sstream>

#include "tamis/detail/any/saved.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/io/file.hpp"
#include "tamis/detail/io/mapped_frame.hpp"

namespace tamis {

using namespace detail;

namespace {

namespace files = std::filesystem;

constexpr const char* snapshot_kind = "guarded-store-snapshot";
// Version 1 did not keep filters in whole cache lines; version 2 filled the ends of a stripe's digests with other bits.
constexpr std::uint32_t snapshot_version = 3;
constexpr std::string_view extension = ".snapshot";
constexpr std::uint32_t most_stripes = 256;

// Passes bytes on, and knows how many there were and their checksum.
class summing_sink final : public byte_sink {
 public:
  explicit summing_sink(byte_sink& next) : next_(next) {}
  status write(std::span<const std::byte> bytes) override {
    sum_.update(bytes);
    count_ += bytes.size();
    return next_.write(bytes);
  }
  std::uint64_t count() const { return count_; }
  std::uint64_t sum() const { return sum_.value(); }

 private:
  byte_sink& next_;
  checksum sum_;
  std::uint64_t count_ = 0;
};

using fill_function = std::function<status(byte_sink&)>;

// What file_replacement does, without the syncs: for the test that leaves them out.
status write_unsynced(const std::string& path, const fill_function& fill) {
  memory_sink sink;
  TAMIS_CHECK(fill(sink));
  const std::string temporary = path + ".tmp";
  std::ofstream(temporary, std::ios::binary)
      .write(reinterpret_cast<const char*>(sink.bytes().data()), static_cast<std::streamsize>(sink.bytes().size()));
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return failure{path + ": cannot replace", error_code::io};
  return {};
}

status write_file(const std::string& path, const fill_function& fill, std::uint32_t skipped_steps) {
  if (skipped(skipped_steps, protocol_step::file_sync)) return write_unsynced(path, fill);
  TAMIS_TRY(file_replacement file, file_replacement::create(path));
  TAMIS_CHECK(fill(file));
  return file.commit();
}

// All of the file is compared with its checksum here, and its blocks are not again.
result<std::shared_ptr<file_mapping>> map_file(const std::string& path, const manifest_row& row, bool unchecked) {
  TAMIS_TRY(std::shared_ptr<file_mapping> file, file_mapping::open(path));
  if (file->bytes().size() != row.file_bytes && !unchecked)
    return failure{path + ": is not as long as the manifest says", error_code::damaged};
  if (!unchecked && checksum::of(file->bytes()) != row.file_sum)
    return failure{path + ": its checksum is not the manifest's", error_code::damaged};
  return file;
}

status check_content(const snapshot_content& content, const manifest_row& row, const store_identity& identity) {
  if (content.identity != identity) return failure{"it belongs to another store", error_code::damaged};
  if (content.generation != row.generation) return failure{"it is of another generation", error_code::damaged};
  const bool same = std::equal(content.segments.begin(), content.segments.end(), row.numbers.begin(), row.numbers.end(),
                               [](const segment& s, std::uint64_t number) { return s.number == number; });
  if (!same) return failure{"its segments are not those of the manifest", error_code::damaged};
  return {};
}

}  // namespace

status store_config::validate() const {
  if (is_wrong(version == 0) || is_wrong(version > newest_version)) {
    return failure{"the store's version is " + std::to_string(version) + ", this tamis reads versions up to " +
                       std::to_string(newest_version),
                   error_code::newer_version};
  }
  if (is_wrong(stripes == 0) || is_wrong(stripes > most_stripes) || is_wrong((stripes & (stripes - 1)) != 0))
    return failure{
        "the number of stripes is " + std::to_string(stripes) + ", not a power of two up to " + std::to_string(most_stripes),
        error_code::damaged};
  return {};
}

std::string describe_filter(const guard_options& options) {
  const filter_params& params = options.params;
  std::ostringstream text;
  text << std::setprecision(17) << options.filter << " capacity=" << params.capacity;
  if (params.fpr) text << " fpr=" << *params.fpr;
  if (params.bits_per_key) text << " bits_per_key=" << *params.bits_per_key;
  for (const auto& [name, value] : params.options) text << " " << name << "=" << value;
  return text.str();
}

std::string row_name(std::uint64_t generation) {
  // Twenty digits, so that the order of names is that of numbers.
  const std::string digits = std::to_string(generation);
  return std::string(snapshot_rows) + std::string(20 - digits.size(), '0') + digits;
}

std::string snapshot_path(const std::string& directory, std::uint64_t generation) {
  return directory + "/" + std::to_string(generation) + std::string(extension);
}

template <class Row>
std::string row_text(const Row& row) {
  memory_sink sink;
  writer out(sink);
  out(row);
  out.finish().value();  // memory has no errors
  return {reinterpret_cast<const char*>(sink.bytes().data()), sink.bytes().size()};
}

template <class Row>
result<Row> parse_row(std::string_view text) {
  memory_source source(std::as_bytes(std::span(text)));
  reader in(source);
  Row row;
  in(row);
  if (!in.ok()) return detail::prefixed("", in.state());
  if (in.remaining() != 0) return failure{"there are bytes after its end", error_code::damaged};
  return row;
}

template std::string row_text(const store_config&);
template std::string row_text(const manifest_row&);
template result<store_config> parse_row(std::string_view);
template result<manifest_row> parse_row(std::string_view);

result<manifest_row> write_snapshot(const std::string& directory, const snapshot_content& content, const hasher& hash,
                                    std::uint32_t skipped_steps) {
  manifest_row row{content.generation, 0, 0, {}};
  const auto fill = [&](byte_sink& sink) -> status {
    summing_sink sum(sink);
    const frame_header header{snapshot_kind, snapshot_version, hash.identity()};
    TAMIS_CHECK(write_frame(sum, header, [&](writer& out) { out(content); }));
    row.file_bytes = sum.count();
    row.file_sum = sum.sum();
    return {};
  };
  TAMIS_CHECK(write_file(snapshot_path(directory, content.generation), fill, skipped_steps));
  for (const segment& part : content.segments) row.numbers.push_back(part.number);
  return row;
}

result<snapshot_content> read_snapshot(const std::string& directory, const manifest_row& row, const store_identity& identity,
                                       const hasher& hash, std::uint32_t skipped_steps) {
  const bool unchecked = skipped(skipped_steps, protocol_step::file_checks);
  const std::string path = snapshot_path(directory, row.generation);
  TAMIS_TRY(const std::shared_ptr<file_mapping> file, map_file(path, row, unchecked));
  auto frame = unchecked ? mapped_frame::open(file) : mapped_frame::open_verified(file, file->bytes());
  if (!frame) return detail::prefixed(path + ": ", frame);
  snapshot_content content;
  content.file = file;
  const memory_scope apart(huge_page_memory());  // a segment that is read is no filter's memory yet
  const status read = frame->read([&](const frame_header& header, reader& in) -> status {
    if (header.kind != snapshot_kind || header.kind_version != snapshot_version)
      return failure{"it is not a snapshot", error_code::damaged};
    if (header.hash != hash.identity()) return failure{"it was filled through another hash", error_code::wrong_hash};
    in(content);
    return {};
  });
  if (!read) return detail::prefixed(path + ": ", read);
  if (const status same = check_content(content, row, identity); !same && !unchecked)
    return detail::prefixed(path + ": ", same);
  return content;
}

result<any_filter> load_segment(const snapshot_content& content, segment& part, const load_options& options) {
  const std::span<std::byte> bytes = std::as_writable_bytes(part.filter.span());
  const std::span<std::byte> file = content.file->bytes();
  const bool is_mapped =
      std::less_equal<>()(file.data(), bytes.data()) && std::less<>()(bytes.data(), file.data() + file.size());
  if (!is_mapped) return load_bytes(bytes, options);
  TAMIS_TRY(mapped_frame frame, mapped_frame::open_verified(content.file, bytes));
  return load_frame(options, [&](const payload_reader& payload) { return frame.read(payload); });
}

void remove_other_files(const std::string& directory, const std::vector<manifest_row>& kept) {
  std::error_code ignored;
  for (const auto& entry : files::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.find(extension) == std::string::npos) continue;
    const bool keep = std::any_of(kept.begin(), kept.end(), [&](const manifest_row& row) {
      return name == std::to_string(row.generation) + std::string(extension);
    });
    if (!keep) files::remove(entry.path(), ignored);
  }
}

}  // namespace tamis
