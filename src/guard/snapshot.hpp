#pragma once

// Snapshots on disk: one file per generation, and a row per kept generation in the store's manifest. A file counts only if the
// manifest names it with this size and checksum, so a file from elsewhere, from another time or half written is never believed.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tamis/any_filter.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/io/file_mapping.hpp"
#include "tamis/guard/options.hpp"
#include "tamis/guard/store.hpp"

namespace tamis {

using store_identity = std::array<std::uint64_t, 2>;  // drawn at random when the store is made

// The row `config`: written once, when the store is made.
struct store_config {
  static constexpr std::uint32_t with_secret = 2;  // version 1 does not keep the secret of a keyed hash
  static constexpr std::uint32_t newest_version = with_secret;

  std::uint32_t version = 1;
  store_identity identity{};
  std::uint32_t stripes = 1;
  hash_identity hash;
  std::array<std::uint64_t, 2> secret{};

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.version, self.identity[0], self.identity[1], self.stripes, self.hash.family, self.hash.seed, self.hash.check);
    if (self.version >= with_secret) archive(self.secret[0], self.secret[1]);
  }
  status validate() const;
};

// A row `snapshot/…` of the manifest.
struct manifest_row {
  std::uint64_t generation = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t file_sum = 0;
  std::vector<std::uint64_t> numbers;  // per stripe: the last record that is contained

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.generation, self.file_bytes, self.file_sum, self.numbers);
  }
};

struct segment {
  std::uint64_t number = 0;                   // the last record that is contained
  detail::zeroed_array<std::uint8_t> filter;  // saved: a whole frame, in whole cache lines if it is large

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.number, self.filter);
  }
};

struct snapshot_content {
  store_identity identity{};
  std::uint64_t generation = 0;
  std::string description;  // the filter and its parameters: whoever opens the store with others wants a new filter
  std::vector<segment> segments;
  std::shared_ptr<detail::file_mapping> file;  // where segments were read from

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.identity[0], self.identity[1], self.generation, self.description, self.segments);
  }
};

std::string describe_filter(const guard_options& options);

inline constexpr std::string_view config_row = "config";
inline constexpr std::string_view snapshot_rows = "snapshot/";
inline constexpr std::string_view load_row = "load";  // there while a bulk load is under way
std::string row_name(std::uint64_t generation);
std::string snapshot_path(const std::string& directory, std::uint64_t generation);

// Rows as texts. The errors do not name the store: the caller does.
template <class Row>
std::string row_text(const Row& row);
template <class Row>
result<Row> parse_row(std::string_view text);
extern template std::string row_text(const store_config&);
extern template std::string row_text(const manifest_row&);
extern template result<store_config> parse_row(std::string_view);
extern template result<manifest_row> parse_row(std::string_view);

// Writes the file of a snapshot, durably, and says what its manifest row is.
result<manifest_row> write_snapshot(const std::string& directory, const snapshot_content& content, const hasher& hash,
                                    std::uint32_t skipped_steps);
// Maps it if it is the very file that the row speaks of and belongs to this store. Large segments stay where they are in it.
result<snapshot_content> read_snapshot(const std::string& directory, const manifest_row& row, const store_identity& identity,
                                       const hasher& hash, std::uint32_t skipped_steps);
// The filter of a segment. Its tables stay in the file if the segment does: pages are read when they are touched, and those
// that change become this process's own.
result<any_filter> load_segment(const snapshot_content& content, segment& part, const load_options& options);
// Removes snapshots, and remains of unfinished ones, that `kept` does not list. What cannot be removed stays: it is harmless.
void remove_other_files(const std::string& directory, const std::vector<manifest_row>& kept);

inline bool skipped(std::uint32_t steps, protocol_step step) { return (steps & static_cast<std::uint32_t>(step)) != 0; }

}  // namespace tamis
