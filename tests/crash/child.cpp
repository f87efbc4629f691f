// child DIRECTORY SEED STEPS SETTINGS: opens the store and does the steps of the workload, saying on descriptor 3 what it is
// about to do and what is done:
//
//   W way     opened           I i   about to do step i      A i   step i is done
//   F i       step i failed    S     a snapshot was taken    L     a key in the store is not covered by the filter
//   M n       so many mistakes are known now
//   N n       number of file operations, at the end

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tamis/guard/guarded_store.hpp"
#include "tamis/guard/rocksdb_store.hpp"
#include "tamis/registry.hpp"
#include "tests/support/toy_filter.hpp"
#include "workload.hpp"

namespace tamis::crash {

using namespace detail;

namespace {

constexpr int report_descriptor = 3;

void say(const std::string& line) {
  const std::string text = line + '\n';
  if (::write(report_descriptor, text.data(), text.size()) < 0) ::_exit(3);
}

status change(guarded_store& store, const step& todo) {
  const auto& [key, value] = todo.changes.front();
  if (todo.kind == step::what::put) return store.put(key, *value);
  if (todo.kind == step::what::erase) {
    TAMIS_CHECK(store.erase(key));
    return {};
  }
  if (todo.kind == step::what::get) {
    TAMIS_CHECK(store.get(key));
    return {};
  }
  if (todo.kind == step::what::ask) {
    for (std::uint64_t i = 0; i < universe; ++i) TAMIS_CHECK(store.get(key_of(i)));
    return {};
  }
  write_batch batch;
  for (const auto& [each, text] : todo.changes) {
    if (text) {
      batch.put(each, *text);
    } else {
      batch.erase(each);
    }
  }
  return todo.kind == step::what::load ? store.load(batch) : store.write(batch);
}

// Does the filter cover what the store holds, at this moment?
void check_cover(guarded_store& guarded, const store& behind, const hasher& hash) {
  for (std::uint64_t i = 0; i < universe; ++i) {
    const std::string key = key_of(i);
    const auto stored = behind.contains({hash(std::string_view(key)), key});
    if (stored && *stored && !guarded.may_contain(key)) return say("L");
  }
}

int work(const std::string& directory, std::uint64_t seed, std::size_t length, const settings& given) {
  registry known = registry::builtin();
  known.add(entry_of<test::toy_everything>());
  const guard_options options = guard_options_of(given, known);
  auto opened = rocksdb_store::open(directory, {.buffer_bytes = 32 << 10});
  if (!opened) return say("F open " + opened.message()), 1;
  const std::shared_ptr<store> behind = *std::move(opened);
  auto guarded = guarded_store::open(behind, options);
  if (!guarded) return say("F guard " + guarded.message()), 1;
  say("W " + std::string(to_string(guarded->recovered().way)));
  const std::vector<step> steps = workload(seed, length, given);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    say("I " + std::to_string(i));
    if (steps[i].kind == step::what::snapshot) {
      // A failed one leaves the older ones, and the store goes on.
      if (given.checkpoints) std::filesystem::remove_all(directory + ".copy");
      say((given.checkpoints ? guarded->checkpoint(directory + ".copy") : guarded->snapshot()) ? "S" : "s");
    } else if (const status done = change(*guarded, steps[i]); !done) {
      say("F " + std::to_string(i) + " " + done.message());
      check_cover(*guarded, *behind, guarded->hash());
      return 1;
    }
    if (given.asks) say("M " + std::to_string(guarded->stats().known_mistakes));
    say("A " + std::to_string(i));
  }
  check_cover(*guarded, *behind, guarded->hash());
  if (const auto count = reinterpret_cast<long (*)()>(::dlsym(RTLD_DEFAULT, "crash_operations"))) {
    say("N " + std::to_string(count()));
  }
  return 0;
}

}  // namespace
}  // namespace tamis::crash

int main(int /*count*/, char** given) {
  return tamis::crash::work(given[1], std::strtoull(given[2], nullptr, 10), std::strtoull(given[3], nullptr, 10),
                            tamis::crash::settings::from(given[4]));
}
