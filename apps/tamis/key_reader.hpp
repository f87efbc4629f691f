#pragma once

// Keys from a file or standard input, one per line or NUL-separated, in batches. Bytes are kept as they are: the carriage
// return of a DOS file belongs to the key, an empty line is the empty key, and the last line needs no line end. Memory depends
// on the longest key, not on the file. Compressed files and captures of packets are read too: readers/key_input.hpp.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command_files.hpp"
#include "readers/key_input.hpp"
#include "tamis/hasher.hpp"

namespace tamis::cli {

inline constexpr std::size_t keys_per_batch = 4096;

// How keys are written in their files: -0 and --plain.
struct key_style {
  bool nul = false;
  bool plain = false;

  void add_to(CLI::App& command);
  char separator() const { return nul ? '\0' : '\n'; }
  readers::key_format format() const { return plain ? readers::key_format::plain : readers::key_format::detected; }
};

// The flags of a command that reads keys: [KEYS] and their style.
struct key_flags {
  std::string path;
  key_style style;

  void add_to(CLI::App& command, command_files& files);
};
extern const char* const key_help;  // for the end of a command's help

class raw_bytes;

class key_reader {
 public:
  // Standard input if the path is empty or "-". What is wrong with a file is thrown as a failure that names it, here or later.
  key_reader(const std::string& path, const key_style& style);

  // The next keys; none at the end. They are valid until the next call.
  std::span<const std::string_view> next(std::size_t most = keys_per_batch);

  const std::string& name() const { return name_; }
  std::uint64_t bytes_done() const;                                    // of the file
  std::optional<std::uint64_t> bytes_total() const { return total_; }  // of a regular file
  // All that has arrived is given out, and more may take its time: the moment to pass on what was made of it.
  bool waiting() const { return !total_ && position_ == end_; }

 private:
  void take_complete_keys(std::size_t most);
  void refill();
  void tell_packets() const;

  std::string name_;
  char separator_;
  std::optional<std::uint64_t> total_;
  const raw_bytes* raw_;  // below keys_in_
  std::unique_ptr<readers::key_input> keys_in_;
  std::vector<char> buffer_;
  std::size_t position_ = 0;  // of the next key
  std::size_t scanned_ = 0;   // no separator between position_ and here
  std::size_t end_ = 0;
  std::uint64_t bytes_before_ = 0;  // that have left the buffer
  bool ended_ = false;
  std::vector<std::string_view> keys_;
};

}  // namespace tamis::cli
