#include "tamis/guard/guarded_store.hpp"

#include <cmath>

#include "guarded_parts.hpp"

namespace tamis {
namespace {

constexpr const char* closed = "guarded_store: it was closed, or moved from";
constexpr std::uint32_t most_repeat_slots = 1u << 26;

status check_options(const guard_options& options) {
  if (!std::isfinite(options.snapshot_share) || options.snapshot_share < 0) {
    return failure{"snapshot_share: must be a number from 0 on, but is " + std::to_string(options.snapshot_share)};
  }
  if (options.repeat_detection_slots > most_repeat_slots) {
    return failure{"repeat_detection_slots: must be at most " + std::to_string(most_repeat_slots) + ", but is " +
                       std::to_string(options.repeat_detection_slots),
                   error_code::out_of_range};
  }
  return {};
}

}  // namespace

guarded_store::guarded_store(std::unique_ptr<parts> made) : parts_(std::move(made)) {}
guarded_store::guarded_store(guarded_store&&) noexcept = default;
guarded_store& guarded_store::operator=(guarded_store&&) noexcept = default;
guarded_store::~guarded_store() = default;

status guarded_store::check_open() const {
  if (parts_) return {};
  return failure{closed, error_code::in_use};
}

result<guarded_store> guarded_store::open(std::shared_ptr<store> behind, const guard_options& options) {
  if (!behind) return failure{"guarded_store: there is no store to guard, only a null pointer"};
  TAMIS_CHECK(check_options(options));
  TAMIS_TRY(store_claim claim, store_claim::take(std::move(behind)));
  TAMIS_TRY(const store_settings settings, find_settings(*claim, options));
  auto made = std::make_unique<parts>(std::move(claim), with_list(options), settings);
  TAMIS_CHECK(made->recover());
  return guarded_store(std::move(made));
}

status guarded_store::put(byte_view key, byte_view value) {
  TAMIS_CHECK(check_open());
  TAMIS_CHECK(parts_->apply({{key.text(), value.text()}}));
  return {};
}

result<bool> guarded_store::erase(byte_view key) {
  TAMIS_CHECK(check_open());
  TAMIS_TRY(const std::uint64_t erased, parts_->apply({{key.text(), std::nullopt}}));
  return erased != 0;
}

status guarded_store::write(const write_batch& batch) {
  TAMIS_CHECK(check_open());
  std::vector<parts::change> changes;
  for (const auto& c : batch.changes_) changes.push_back({c.key, c.value});
  TAMIS_CHECK(parts_->apply(std::move(changes)));
  return {};
}

status guarded_store::load(const write_batch& puts) {
  TAMIS_CHECK(check_open());
  std::vector<parts::change> changes;
  for (const auto& c : puts.changes_) {
    if (!c.value) return failure{"load: only puts, but the batch erases a key"};
    changes.push_back({c.key, c.value});
  }
  return parts_->load(std::move(changes));
}

result<std::optional<std::string>> guarded_store::get(byte_view key) {
  TAMIS_CHECK(check_open());
  return parts_->get(key.text());
}

result<bool> guarded_store::contains(byte_view key) {
  TAMIS_TRY(const auto value, get(key));
  return value.has_value();
}

std::vector<result<std::optional<std::string>>> guarded_store::multi_get(std::span<const byte_view> keys) {
  if (!parts_) return {keys.size(), failure{closed, error_code::in_use}};
  return parts_->multi_get(keys);
}

bool guarded_store::may_contain(byte_view key) const { return !parts_ || parts_->may_contain(key.text()); }

status guarded_store::scan_keys(byte_view first, const std::function<bool(std::string_view, std::string_view)>& visit) const {
  TAMIS_CHECK(check_open());
  if (!visit) return failure{"scan_keys: there is no function to visit the keys with"};
  return parts_->scan_keys(first.text(), visit);
}

status guarded_store::snapshot() {
  TAMIS_CHECK(check_open());
  return parts_->snapshot();
}

status guarded_store::checkpoint(const std::string& directory) {
  TAMIS_CHECK(check_open());
  return parts_->checkpoint(directory);
}

void guarded_store::wait_until_ready() {
  if (parts_) parts_->wait_until_ready();
}

status guarded_store::close() {
  TAMIS_CHECK(check_open());
  status closed_well = parts_->close();
  parts_.reset();
  return closed_well;
}

const hasher& guarded_store::hash() const {
  static const hasher of_none;
  return parts_ ? parts_->hash() : of_none;
}

guard_stats guarded_store::stats() const { return parts_ ? parts_->stats() : guard_stats(); }

const recovery_report& guarded_store::recovered() const {
  static const recovery_report of_none{.reason = closed};
  return parts_ ? parts_->recovered() : of_none;
}

memory_bits guarded_store::bits() const { return parts_ ? parts_->bits() : memory_bits(); }
std::uint32_t guarded_store::stripes() const { return parts_ ? parts_->stripes() : 0; }
double guarded_store::expected_fpr() const { return parts_ ? parts_->expected_fpr() : 1; }

}  // namespace tamis
