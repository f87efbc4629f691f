#pragma once

// A saved filter that is used where it is: the file is mapped instead of read.
//
//   tamis::mapped_filter seen = tamis::open_mapped("seen.tamis").value();
//   seen.filter().may_contain("alice");
//   seen.verify().value();                 // now, later, in another thread, or never
//
// Opening reads the header, the table of checksums and the fields. What else it reads depends on the kind:
//
//   bloom, bloom1, counting-bloom, cuckoo, ascf, vacuum   nothing: every operation on them stays inside the table and ends,
//                                                         whatever bytes the table has. is_verified() is false until verify().
//   all others                                            all blocks, and what `load` checks: a damaged table could lead
//                                                         their lookups out of it. is_verified() is true.
//
// Until it is verified, a filter answers as its bytes do: a file that was damaged may have lost keys. Whoever cannot vouch for
// the disk verifies first.
//
// Pages are read when they are touched and shared between processes. The filter can be changed: pages that change become its
// own, and the file stays as it is. Tables below 64 KiB are read, as are those of kinds that keep them otherwise in memory.
//
// The file must stay as it is while it is mapped. To replace it whole (save_file, `tamis add`) is fine: the mapping keeps the
// old one. If a program writes into the file, what was verified is so no more; if it is shortened, the next touch of a page
// that is gone ends the process (SIGBUS). Use load_file where that can happen.

#include <string>

#include "tamis/any_filter.hpp"
#include "tamis/detail/io/mapped_frame.hpp"

namespace tamis {

class mapped_filter {
 public:
  // The filter. What is changed in it stays in memory.
  any_filter& filter() { return filter_; }
  const any_filter& filter() const { return filter_; }

  // Were all checksums of the file found right, at opening or by verify()?
  bool is_verified() const { return is_verified_; }
  // Compares every block of the file with its checksum, at the speed of reading, and then the filter's table with its fields.
  // What the filter has changed in memory does not matter. Lookups may run meanwhile in other threads, changes may not.
  status verify();

 private:
  friend result<mapped_filter> open_mapped(const std::string& path, const load_options& options);
  mapped_filter(std::string path, detail::mapped_frame frame, any_filter filter)
      : path_(std::move(path)), frame_(std::move(frame)), filter_(std::move(filter)), is_verified_(frame_.is_verified()) {}

  std::string path_;
  detail::mapped_frame frame_;
  any_filter filter_;
  bool is_verified_;
};

// Messages begin with the path.
result<mapped_filter> open_mapped(const std::string& path, const load_options& options = {});

}  // namespace tamis
