#include "replay_log.hpp"

#include <algorithm>
#include <array>

#include "failure.hpp"
#include "numbers.hpp"
#include "progress.hpp"
#include "replay_run.hpp"

namespace tamis::cli {
namespace {

using answer = log_line::answer;

constexpr std::string_view hit = "hit";
constexpr std::string_view miss = "miss";

std::optional<log_op> op_of(std::string_view word) {
  if (word == "+" || word == "insert") return log_op::insert;
  if (word == "-" || word == "delete") return log_op::erase;
  if (word == "?" || word == "query") return log_op::query;
  return std::nullopt;
}

std::optional<answer> answer_of(std::string_view word) {
  if (word == hit) return answer::hit;
  if (word == miss) return answer::miss;
  return std::nullopt;
}

log_line ops_line(std::string_view line, const std::string& where) {
  const std::optional<log_op> op = line.empty() ? std::nullopt : op_of(line.substr(0, 1));
  if (!op) fail(where, "must begin with +, - or ?");
  log_line made{line.substr(1), *op};
  const std::size_t tab = made.key.rfind('\t');
  if (*op != log_op::query || tab == std::string_view::npos) return made;
  const std::optional<answer> found = answer_of(made.key.substr(tab + 1));
  if (found) made = {made.key.substr(0, tab), *op, *found};  // otherwise the tab is the key's
  return made;
}

log_line tsv_line(std::string_view line, const std::string& where) {
  std::array<std::string_view, 3> column{};
  std::size_t columns = 0;
  for (std::size_t first = 0; first <= line.size(); ++columns) {
    if (columns == column.size()) fail(where, "has more than three columns");
    const std::size_t end = std::min(line.find('\t', first), line.size());
    column[columns] = line.substr(first, end - first);
    first = end + 1;
  }
  const std::optional<log_op> op = op_of(column[0]);
  if (!op) fail(where, "must begin with insert, delete or query (or +, -, ?) and a tab");
  if (columns < 2) fail(where, "has no key");
  log_line made{column[1], *op};
  if (columns == 2) return made;
  const std::optional<answer> found = answer_of(column[2]);
  if (*op != log_op::query || !found) fail(where, "has a third column: only a query has one, hit or miss");
  made.found = *found;
  return made;
}

// Follows the store along the log.
class log_maker {
 public:
  log_maker(const log_wish& wish, const std::vector<digest>& members) : wish_(wish) {
    for (const digest d : members) begin_with(d);
  }

  void add(digest key, log_op op, answer found) {
    const std::uint64_t number = numbers_.number(key);
    if (number == is_in_.size()) {
      is_in_.push_back(false);
      if (op == log_op::erase || found == answer::hit) begin_with(key);  // first heard of as being there
    }
    if (op == log_op::query) {
      ask(key, number, found);
    } else if (is_in_[number] == (op == log_op::insert)) {
      ++made_.without_effect;
    } else {
      change(key, number, op);
    }
  }

  change_log take() {
    // Those that were in from the beginning were found on the way.
    std::uint64_t keys = made_.members.size();
    made_.most_keys = keys;
    for (const log_op op : made_.ops) {
      if (op == log_op::query) continue;
      keys += op == log_op::insert ? 1 : ~std::uint64_t{0};
      made_.most_keys = std::max(made_.most_keys, keys);
    }
    return std::move(made_);
  }

 private:
  void begin_with(digest key) {
    const std::uint64_t number = numbers_.number(key);
    if (number == is_in_.size()) is_in_.push_back(false);
    if (is_in_[number]) return;
    is_in_[number] = true;
    made_.members.push_back(key);
  }

  void ask(digest key, std::uint64_t number, answer found) {
    if (found != answer::unsaid && is_in_[number] != (found == answer::hit)) {
      ++made_.unseen;
      change(key, number, found == answer::hit ? log_op::insert : log_op::erase);
    }
    event(key, log_op::query);
    ++made_.queries;
    if (wish_.first_sight_inserts && !is_in_[number]) change(key, number, log_op::insert);
  }

  void change(digest key, std::uint64_t number, log_op op) {
    event(key, op);
    is_in_[number] = op == log_op::insert;
    ++(op == log_op::insert ? made_.inserts : made_.erases);
  }

  void event(digest key, log_op op) {
    made_.keys.push_back(key);
    made_.ops.push_back(op);
  }

  log_wish wish_;
  change_log made_;
  key_numbers numbers_;
  std::vector<bool> is_in_;  // by number
};

}  // namespace

log_format parse_log_format(const std::string& text) {
  if (text == "ops") return log_format::ops;
  if (text == "tsv") return log_format::tsv;
  fail("--log-format '" + text + "'", "must be ops or tsv");
}

log_line parse_line(std::string_view line, log_format format, const std::string& where) {
  if (format == log_format::keys) return {line};
  return format == log_format::ops ? ops_line(line, where) : tsv_line(line, where);
}

change_log read_log(key_reader& lines, const log_wish& wish, std::vector<digest> members, const hasher& hash) {
  progress bar("reading", lines.bytes_total());
  log_maker made(wish, members);
  std::uint64_t number = 0;
  for (auto batch = lines.next(); !batch.empty(); batch = lines.next()) {
    for (const std::string_view text : batch) {
      const log_line line = parse_line(text, wish.format, lines.name() + ": line " + grouped(++number));
      made.add(hash(line.key), line.op, line.found);
    }
    bar.at(lines.bytes_done(), number);
  }
  return made.take();
}

}  // namespace tamis::cli
