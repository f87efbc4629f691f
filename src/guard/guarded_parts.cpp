// The parts as a whole: making one, its filters, and what it says about itself.

#include "guarded_parts.hpp"

#include <bit>

#include "tamis/registry.hpp"

namespace tamis {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

}  // namespace

guarded_store::parts::parts(store_claim behind, const guard_options& options, const store_settings& settings)
    : behind_(std::move(behind)),
      options_(options),
      settings_(settings),
      map_(static_cast<unsigned>(std::countr_zero(settings.config.stripes))),
      maker_(options, settings.hash, settings.config.stripes),
      stripes_(std::make_unique<stripe[]>(settings.config.stripes)),
      repeats_(options.repeat_detection_slots) {}

guarded_store::parts::~parts() = default;

status guarded_store::parts::rebuild(std::uint32_t index, growth wish, const std::function<bool()>& go_on) {
  stripe& where = stripes_[index];
  const std::uint64_t old_capacity = where.filter ? where.filter->capacity() : 0;
  return or_no_memory([&]() -> status {
    TAMIS_TRY(any_filter made, maker_.rebuild(*behind_, map_, index, {old_capacity, wish.room, wish.larger}, go_on));
    where.replace(std::move(made));
    bump(where.counts.rebuilds);
    return {};
  });
}

status guarded_store::parts::rebuild(std::uint32_t index, growth wish) {
  return rebuild(index, wish, [] { return true; });
}

guard_stats guarded_store::parts::stats() const {
  guard_stats sum;
  sum.queries = counts_.sum(counted::queries);
  sum.negatives = counts_.sum(counted::negatives);
  sum.first_false_positives = counts_.sum(counted::first_wrong);
  sum.repeated_false_positives = counts_.sum(counted::repeated_wrong);
  sum.unguarded = counts_.sum(counted::unguarded);
  sum.store_reads = counts_.sum(counted::store_reads);
  sum.adaptations = counts_.sum(counted::adaptations);
  sum.unfixable = counts_.sum(counted::unfixable);
  sum.adaptations_left = counts_.sum(counted::adaptations_left);
  sum.rejuvenations = counts_.sum(counted::rejuvenations);
  for (std::uint32_t i = 0; i < map_.count(); ++i) {
    sum.left_behind += stripes_[i].counts.left_behind.load(relaxed);
    sum.rebuilds += stripes_[i].counts.rebuilds.load(relaxed);
    sum.known_mistakes += stripes_[i].read([](const auto& filter) { return filter ? filter->known_mistakes() : 0; });
  }
  sum.snapshots = snapshots_.load(relaxed);
  sum.failed_snapshots = failed_snapshots_.load(relaxed);
  sum.records_since_snapshot = records_.load(relaxed);
  return sum;
}

memory_bits guarded_store::parts::bits() const {
  memory_bits sum;
  for (std::uint32_t i = 0; i < map_.count(); ++i) {
    const memory_bits part = stripes_[i].read([](const auto& filter) { return filter ? filter->bits() : memory_bits(); });
    sum.fast += part.fast;
    sum.slow += part.slow;
  }
  return sum;
}

double guarded_store::parts::expected_fpr() const {
  double sum = 0;
  for (std::uint32_t i = 0; i < map_.count(); ++i) {
    sum += stripes_[i].read([](const auto& filter) { return filter ? filter->expected_fpr() : 1.0; });
  }
  return sum / map_.count();
}

}  // namespace tamis
