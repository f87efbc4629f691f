#pragma once

// Logs in which keys come and go: what happened to a store, in order.
//
//   ops    +KEY inserted, -KEY deleted, ?KEY asked for; of a question, a tab and `hit` or `miss` may tell what was found
//   tsv    the same in columns: insert, delete or query (or +, -, ?), the key, and perhaps hit or miss
//   keys   questions only; for --first-sight insert
//
// The log is read whole, so that filters can be made for the most keys that it has at a time, and so that any moment of the
// store can be looked at while one filter after the other is played. A store holds a key once: what inserts a key that is in,
// or deletes one that is not, changes nothing. A key that the log first speaks of as there (a hit, a delete) was in before; a
// later hit or miss that no insert or delete explains is one of these that the log does not show.

#include <cstdint>
#include <string>
#include <vector>

#include "key_reader.hpp"
#include "store_history.hpp"
#include "tamis/hasher.hpp"

namespace tamis::cli {

enum class log_format : std::uint8_t { ops, tsv, keys };
log_format parse_log_format(const std::string& text);

// One line, as it is written.
struct log_line {
  enum class answer : std::uint8_t { unsaid, hit, miss };

  std::string_view key;
  log_op op = log_op::query;
  answer found = answer::unsaid;
};
// Fails, with `where`, if it is not of the format.
log_line parse_line(std::string_view line, log_format format, const std::string& where);

struct log_wish {
  log_format format = log_format::ops;
  bool first_sight_inserts = false;  // what is asked for and not there is inserted behind the question
};
// `members`: what is known to be in at the beginning.
change_log read_log(key_reader& lines, const log_wish& wish, std::vector<digest> members, const hasher& hash);

}  // namespace tamis::cli
