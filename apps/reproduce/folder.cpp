#include "folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "failure.hpp"
#include "lab/measure.hpp"
#include "output.hpp"
#include "printable.hpp"
#include "revision.hpp"
#include "tamis/cpu.hpp"
#include "tamis/detail/io/file.hpp"
#include "tamis/hasher.hpp"

namespace tamis::cli {

using namespace detail;

namespace {

namespace fs = std::filesystem;

constexpr const char* manifest = "reproduce.json";
constexpr const char* condition_names[] = {"tamis", "scale", "seed", "log", "data"};

std::optional<std::string> read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// A log's name need not be UTF-8.
std::string text_of(const json& content) { return content.dump(-1, ' ', false, json::error_handler_t::replace); }

// Over everything else in the object.
std::string checksum(const json& content) {
  const digest d = hasher()(text_of(content));
  return fmt::format("{:016x}{:016x}", d.high, d.low);
}

json saved_table(const lab::table& t) {
  json rows = json::array();
  for (const lab::table::row& r : t.rows()) {
    json settings = json::array();
    json values = json::array();
    for (const std::string& name : t.settings()) settings.push_back(r.text(name));
    for (const std::string& name : t.values()) values.push_back(r.samples(name).front());
    rows.push_back({std::move(settings), std::move(values)});
  }
  return {{"settings", t.settings()},
          {"values", t.values()},
          {"shown", t.shown() == lab::summary::median ? "median" : "mean"},
          {"rows", std::move(rows)}};
}

// Throws json::exception or std::logic_error if it is not what saved_table writes.
lab::table table_of(const json& from) {
  lab::table t(from.at("settings").get<std::vector<std::string>>(), from.at("values").get<std::vector<std::string>>(),
               from.at("shown") == "median" ? lab::summary::median : lab::summary::mean);
  for (const json& row : from.at("rows")) {
    std::vector<lab::setting> settings;
    std::vector<double> values;
    for (const json& s : row.at(0)) settings.emplace_back(s.get<std::string>());
    for (const json& v : row.at(1)) values.push_back(v.is_null() ? std::numeric_limits<double>::quiet_NaN() : v.get<double>());
    t.add(settings, values);
  }
  return t;
}

std::string run_name(const lab::experiment& of, unsigned run) {
  return "runs/" + of.name + "." + std::to_string(run) + ".json";
}

// What a command that was killed while it wrote has left behind.
void remove_unfinished(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().find(".tmp-") != std::string::npos) fs::remove(entry.path(), ignored);
  }
}

}  // namespace

std::string_view word_of(lab::scale s) { return s == lab::scale::quick ? "quick" : "paper"; }

json conditions::described() const {
  const std::string file = log.empty() ? "" : fmt::format("{} ({} bytes)", printable(log, true), log_bytes);
  json all = {{"tamis", TAMIS_VERSION}, {"scale", word_of(scale)}, {"seed", seed}, {"log", file}};
  if (!data.empty()) all["data"] = printable(data, true);
  return all;
}

std::string this_revision() { return TAMIS_REVISION; }

std::string this_date() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

json this_machine_json() {
  const lab::machine_info m = lab::this_machine();
  return {{"cpu", m.cpu}, {"cores", m.cores}, {"l2_bytes", m.l2_bytes}, {"l3_bytes", m.l3_bytes}};
}

json versions_json() {
  return {{"tamis", TAMIS_VERSION},
          {"revision", TAMIS_REVISION},
          {"compiler", __VERSION__},
          {"cpu_level", to_string(used_cpu_level())}};
}

results_folder::results_folder(std::string path, conditions made_under)
    : path_(std::move(path)), conditions_(std::move(made_under)) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  std::error_code failed;
  const bool is_new = !fs::exists(path_, failed) || fs::is_empty(path_, failed);
  if (!is_new && !fs::exists(path_ + "/" + manifest, failed)) {
    fail(path_, fs::is_directory(path_, failed) ? "holds other files; name a new folder" : "is not a folder");
  }
  fs::create_directories(path_ + "/runs", failed);
  if (failed) fail(path_, "cannot be made: " + failed.message());
  lock();
  take_or_make_manifest();
  remove_unfinished(path_);
  remove_unfinished(path_ + "/runs");
}

results_folder::~results_folder() {
  if (lock_ != -1) ::close(lock_);
}

void results_folder::lock() {
  const std::string path = path_ + "/runs/.lock";
  lock_ = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (lock_ == -1) fail(path_, std::string("cannot be written: ") + std::strerror(errno));
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) fail(path_, "another `tamis reproduce` is at work in it");
}

void results_folder::take_or_make_manifest() const {
  const json mine = conditions_.described();
  const auto text = read_text(path_ + "/" + manifest);
  if (!text) {
    write(manifest, mine.dump(2) + "\n");
    return;
  }
  const json theirs = json::parse(*text, nullptr, false);
  if (!theirs.is_object()) fail(path_ + "/" + manifest, "is damaged; name a new folder, or remove this one");
  for (const char* name : condition_names) {
    const json its = theirs.value(name, json());
    const json wanted = mine.value(name, json());
    if (its == wanted) continue;
    fail(path_, fmt::format("holds results of {} {}, and this is {}; they are not mixed: name a new folder", name, its.dump(),
                            wanted.dump()));
  }
}

void results_folder::write(const std::string& name, const std::string& text) const { must(replace_file(path(name), text)); }

void results_folder::save(const lab::experiment& of, unsigned run, const finished_run& done) const {
  json content = conditions_.described();
  content["experiment"] = of.name;
  content["run"] = run;
  content["seconds"] = done.seconds;
  content["machine"] = done.machine;
  content["revision"] = done.revision;
  content["date"] = done.date;
  content["table"] = saved_table(done.table);
  const std::string sum = checksum(content);
  content["checksum"] = sum;
  write(run_name(of, run), text_of(content) + "\n");
}

std::optional<finished_run> results_folder::load(const lab::experiment& of, unsigned run) const {
  const auto text = read_text(path(run_name(of, run)));
  if (!text) return std::nullopt;
  const auto useless = [&](const char* reason) {
    say(fmt::format("note: {}: {}; this run is made again", path(run_name(of, run)), reason));
    return std::nullopt;
  };
  json content = json::parse(*text, nullptr, false);
  if (!content.is_object() || !content.contains("checksum")) return useless("is damaged");
  const json sum = content["checksum"];
  content.erase("checksum");
  if (sum != checksum(content)) return useless("is damaged");
  const json mine = conditions_.described();
  for (const char* name : condition_names) {
    if (content.value(name, json()) != mine.value(name, json())) return useless("was made under other conditions");
  }
  if (content.value("experiment", "") != of.name || content.value("run", json()) != run) return useless("is of another run");
  try {
    return finished_run{table_of(content.at("table")), content.at("seconds").get<double>(), content.at("machine"),
                        content.at("revision").get<std::string>(), content.value("date", "")};
  } catch (const std::exception&) {
    return useless("is not as this tamis writes it");
  }
}

}  // namespace tamis::cli
