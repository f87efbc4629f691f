#include "tamis/guard/guarded_store.hpp"

#include "guarded_parts.hpp"

namespace tamis {

guarded_store::guarded_store(std::unique_ptr<parts> made) : parts_(std::move(made)) {}
guarded_store::guarded_store(guarded_store&&) noexcept = default;
guarded_store& guarded_store::operator=(guarded_store&&) noexcept = default;
guarded_store::~guarded_store() = default;

result<guarded_store> guarded_store::open(std::shared_ptr<store> behind, const guard_options& options) {
  TAMIS_TRY(store_claim claim, store_claim::take(std::move(behind)));
  TAMIS_TRY(const store_config config, configure(*claim, options));
  auto made = std::make_unique<parts>(std::move(claim), options, config);
  TAMIS_CHECK(made->recover());
  return guarded_store(std::move(made));
}

status guarded_store::put(byte_view key, byte_view value) {
  TAMIS_CHECK(parts_->apply({{key.text(), value.text()}}));
  return {};
}

result<bool> guarded_store::erase(byte_view key) {
  TAMIS_TRY(const std::uint64_t erased, parts_->apply({{key.text(), std::nullopt}}));
  return erased != 0;
}

status guarded_store::write(const write_batch& batch) {
  std::vector<parts::change> changes;
  for (const auto& c : batch.changes_) changes.push_back({c.key, c.value});
  TAMIS_CHECK(parts_->apply(std::move(changes)));
  return {};
}

status guarded_store::load(const write_batch& puts) {
  std::vector<parts::change> changes;
  for (const auto& c : puts.changes_) {
    if (!c.value) return error{"load: only puts, but the batch erases a key"};
    changes.push_back({c.key, c.value});
  }
  return parts_->load(std::move(changes));
}

result<std::optional<std::string>> guarded_store::get(byte_view key) { return parts_->get(key.text()); }

result<bool> guarded_store::contains(byte_view key) {
  TAMIS_TRY(const auto value, parts_->get(key.text()));
  return value.has_value();
}

std::vector<result<std::optional<std::string>>> guarded_store::multi_get(std::span<const byte_view> keys) {
  return parts_->multi_get(keys);
}

bool guarded_store::may_contain(byte_view key) const { return parts_->may_contain(key.text()); }
status guarded_store::scan_keys(byte_view first, const std::function<bool(std::string_view, std::string_view)>& visit) const {
  return parts_->scan_keys(first.text(), visit);
}
status guarded_store::snapshot() { return parts_->snapshot(); }
void guarded_store::wait_until_ready() { parts_->wait_until_ready(); }

status guarded_store::close() {
  status closed = parts_->close();
  parts_.reset();
  return closed;
}

guard_stats guarded_store::stats() const { return parts_->stats(); }
const recovery_report& guarded_store::recovered() const { return parts_->recovered(); }
memory_bits guarded_store::bits() const { return parts_->bits(); }
std::uint32_t guarded_store::stripes() const { return parts_->stripes(); }
double guarded_store::expected_fpr() const { return parts_->expected_fpr(); }

}  // namespace tamis
