#pragma once

// A bar on standard error, if that is a terminal and the work takes long enough to wait for.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace tamis::cli {

class progress {
 public:
  // `total` in whatever unit `at` is told, if it is known. A command that prints keys to the terminal meanwhile shows no bar.
  progress(std::string what, std::optional<std::uint64_t> total, bool shown = true);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress() { clear(); }

  // Cheap enough for every batch. Shown after the bar: how many keys and how fast, or a note.
  void at(std::uint64_t done, std::uint64_t keys);
  void at(std::uint64_t done, const std::string& note);
  void clear();

 private:
  using clock = std::chrono::steady_clock;

  bool is_due();
  void draw(std::uint64_t done, const std::string& note);

  std::string what_;
  std::optional<std::uint64_t> total_;
  bool shown_;
  bool drawn_ = false;
  clock::time_point start_;
  clock::time_point next_;
};

}  // namespace tamis::cli
