#include "work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "interrupt.hpp"
#include "progress.hpp"

namespace tamis::cli {
namespace {

using clock_type = std::chrono::steady_clock;

struct stopped {};  // thrown out of an experiment when the user wants to stop

struct task {
  job* of;
  unsigned run;
  double weight;  // seconds that it is expected to take
  std::atomic<double> share = 0;
  bool started = false;
  bool done = false;

  task(job* j, unsigned r, double w) : of(j), run(r), weight(w) {}
};

// All tasks of one kind: threads take them in order, the caller watches.
class crew {
 public:
  crew(std::vector<std::unique_ptr<task>>& tasks, const results_folder& folder, unsigned threads)
      : tasks_(tasks), folder_(folder) {
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~crew() {
    stop_ = true;
    for (std::thread& t : threads_) t.join();
  }

  // Waits a little; false when all is done.
  bool wait() {
    std::unique_lock held(mutex_);
    if (left() == 0) return false;
    changed_.wait_for(held, std::chrono::milliseconds(100));
    return true;
  }
  // No run is finished while `visit` looks.
  template <class Visit>
  void inspect(Visit visit) {
    const std::lock_guard held(mutex_);
    visit();
  }

 private:
  std::size_t left() const {
    return static_cast<std::size_t>(std::count_if(tasks_.begin(), tasks_.end(), [](const auto& t) { return !t->done; }));
  }

  task* next() {
    const std::lock_guard held(mutex_);
    for (const auto& t : tasks_) {
      if (t->started || stop_) continue;
      t->started = true;
      if (t->of->failed.empty()) return t.get();
      t->done = true;  // an earlier run has failed, and this one would
    }
    return nullptr;
  }

  void work() {
    while (task* t = next()) {
      try {
        run(*t);
      } catch (const stopped&) {
        return;
      } catch (const std::exception& error) {
        finish(*t, std::nullopt, error.what());
      }
      changed_.notify_all();
    }
    changed_.notify_all();
  }

  void run(task& t) {
    lab::experiment_options options{.scale = folder_.made_under().scale,
                                    .seed = folder_.made_under().seed,
                                    .run = t.run,
                                    .log = folder_.made_under().log,
                                    .data = folder_.made_under().data,
                                    .told = [this, &t](double share) {
                                      t.share = share;
                                      if (stop_) throw stopped();
                                    }};
    const auto start = clock_type::now();
    result<lab::table> measured = t.of->of->run(options);
    if (!measured) return finish(t, std::nullopt, measured.message());
    if (measured->rows().empty()) return finish(t, std::nullopt, "nothing to measure: the log has too few different keys");
    finished_run done{*std::move(measured), std::chrono::duration<double>(clock_type::now() - start).count(),
                      this_machine_json(), this_revision(), this_date()};
    folder_.save(*t.of->of, t.run, done);
    finish(t, std::move(done), "");
  }

  void finish(task& t, std::optional<finished_run> done, const std::string& failed) {
    const std::lock_guard held(mutex_);
    t.of->finished[t.run] = std::move(done);
    if (!failed.empty()) t.of->failed = failed;
    t.done = true;
  }

  std::vector<std::unique_ptr<task>>& tasks_;
  const results_folder& folder_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
};

class overseer {
 public:
  overseer(std::vector<job>& jobs, const results_folder& folder, const work_options& options)
      : jobs_(jobs), folder_(folder), options_(options), bar_("reproducing", steps) {}

  void oversee() {
    load();
    report();
    for (const bool timed : {false, true}) total_ += add_tasks(timed);
    run(rates_, options_.threads);
    run(speeds_, 1);
  }

 private:
  static constexpr std::uint64_t steps = 10000;
  using task_list = std::vector<std::unique_ptr<task>>;

  void load() {
    for (job& j : jobs_) {
      j.finished.resize(j.runs);
      for (unsigned r = 0; r < j.runs; ++r) j.finished[r] = folder_.load(*j.of, r);
    }
  }

  // The weight of what is missing.
  double add_tasks(bool timed) {
    task_list& list = timed ? speeds_ : rates_;
    double sum = 0;
    for (job& j : jobs_) {
      if (j.of->timed != timed) continue;
      const double weight = j.of->seconds.of(folder_.made_under().scale);
      for (unsigned r = 0; r < j.runs; ++r) {
        if (j.finished[r]) continue;
        list.push_back(std::make_unique<task>(&j, r, weight));
        sum += weight;
      }
    }
    return timed ? sum : sum / options_.threads;
  }

  void run(task_list& tasks, unsigned threads) {
    if (tasks.empty()) return;
    const double before = done_;
    crew at_work(tasks, folder_, threads);
    while (at_work.wait()) {
      stop_if_interrupted();
      at_work.inspect([&] {
        report();
        show(tasks, before, threads);
      });
    }
    at_work.inspect([&] { report(); });
    for (const auto& t : tasks) done_ += t->weight / threads;
  }

  // Tells of experiments that are complete now.
  void report() {
    for (job& j : jobs_) {
      if (std::find(reported_.begin(), reported_.end(), &j) != reported_.end() || !(j.complete() || !j.failed.empty()))
        continue;
      reported_.push_back(&j);
      bar_.clear();
      options_.completed(j);
    }
  }

  void show(const task_list& tasks, double before, unsigned threads) {
    double done = before;
    std::string now;
    for (const auto& t : tasks) {
      done += t->weight / threads * (t->done ? 1 : t->share.load());
      if (t->started && !t->done)
        now += fmt::format("{}{} {}/{}", now.empty() ? "" : ", ", t->of->of->name, t->run + 1, t->of->runs);
    }
    const double share = done / total_;
    const double passed = std::chrono::duration<double>(clock_type::now() - start_).count();
    // At first from the times elsewhere, later from this machine's.
    const double left = share < 0.02 ? total_ - done : passed * (1 - share) / share;
    bar_.at(static_cast<std::uint64_t>(share * steps), fmt::format("about {} left: {}", duration(left), now));
  }

  std::vector<job>& jobs_;
  const results_folder& folder_;
  const work_options& options_;
  progress bar_;
  task_list rates_;
  task_list speeds_;
  double total_ = 0;
  double done_ = 0;
  std::vector<const job*> reported_;
  clock_type::time_point start_ = clock_type::now();
};

}  // namespace

bool job::complete() const {
  return !finished.empty() && std::all_of(finished.begin(), finished.end(), [](const auto& run) { return run.has_value(); });
}

lab::table job::joined() const {
  lab::table all;
  for (const auto& run : finished) {
    if (run) all.join(run->table).value();
  }
  return all;
}

double job::seconds() const {
  double sum = 0;
  for (const auto& run : finished) sum += run ? run->seconds : 0;
  return sum;
}

void do_work(std::vector<job>& jobs, const results_folder& folder, const work_options& options) {
  overseer(jobs, folder, options).oversee();
}

double estimated_seconds(const std::vector<job>& jobs, lab::scale s, unsigned threads) {
  double rates = 0;
  double speeds = 0;
  for (const job& j : jobs) (j.of->timed ? speeds : rates) += j.of->seconds.of(s) * j.runs;
  return rates / threads + speeds;
}

std::string duration(double seconds) {
  if (seconds < 99) return fmt::format("{:.0f} s", std::max(1.0, seconds));
  if (seconds < 99 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace tamis::cli
