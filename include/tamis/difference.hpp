#pragma once

// What changed in a saved filter, as a patch: whoever has the old file makes the new one of it.
//
//   std::vector<std::byte> patch = tamis::diff_files("monday.tamis", "tuesday.tamis").value();
//   tamis::patch_file("copy_of_monday.tamis", "patch.tamis").value();      // is tuesday.tamis now, byte for byte
//
// A patch holds the bits that changed, with what moved inside a filter taken into account: 3 to 8 bytes per new key for
// most kinds (docs/difference.md has sizes and the bytes). It fits one file only, which it knows by its checksums.
//
// Who makes the patch need not have the old file, only its table of checksums, 8 bytes for each 64 KiB: then blocks that
// changed are sent whole.
//
//   std::vector<std::byte> sums = tamis::checksums_of_file("copy_of_monday.tamis").value();
//   std::vector<std::byte> patch = tamis::diff_bytes(sums, tuesday).value();
//
// Everything is verified: the two files of a difference, the patch, the file it is applied to and, before it is given out or
// written, what was made of it. Patches may come from anybody: no memory is taken from a length that was not compared with the
// sizes of file and patch. A patch does not say who made it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tamis/result.hpp"

namespace tamis {

// Called now and then with the share of the work that is done, from 0 to 1. What it throws comes out of the function that
// called it, and nothing has changed.
using difference_progress = std::function<void(double)>;

// The patch that makes `made` of `old`, both saved filters. `old` may be the checksums of one.
result<std::vector<std::byte>> diff_bytes(std::span<const std::byte> old, std::span<const std::byte> made,
                                          const difference_progress& progress = nullptr);
// The same for files. They must stay as they are meanwhile (mapped.hpp says why). Messages begin with a path.
result<std::vector<std::byte>> diff_files(const std::string& old, const std::string& made,
                                          const difference_progress& progress = nullptr);

// The file that the patch makes of this one. `mismatch` if the patch is for another file, or was applied already.
result<std::vector<std::byte>> patch_bytes(std::span<const std::byte> file, std::span<const std::byte> patch,
                                           const difference_progress& progress = nullptr);
// The same in place.
// Ensures: on success the new content stands at the path, durably; on failure nothing has changed.
status patch_file(const std::string& path, const std::string& patch, const difference_progress& progress = nullptr);

// The table of checksums of a saved filter.
result<std::vector<std::byte>> checksums_of_bytes(std::span<const std::byte> file);
result<std::vector<std::byte>> checksums_of_file(const std::string& path);

}  // namespace tamis
