#pragma once

// A store that passes everything on to another one: what test stores begin with that disturb, watch or count.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tamis/guard/store.hpp"

namespace tamis::test {

class forwarding_store : public store {
 public:
  explicit forwarding_store(std::shared_ptr<store> inner) : inner_(std::move(inner)) {}

  std::string name() const override { return inner_->name(); }
  std::string snapshot_directory() const override { return inner_->snapshot_directory(); }
  result<bool> contains(const located_key& at) const override { return inner_->contains(at); }
  result<std::optional<std::string>> get(const located_key& at) const override { return inner_->get(at); }
  status get_many(std::span<const located_key> keys, std::span<std::optional<std::string>> out) const override {
    return inner_->get_many(keys, out);
  }
  status scan(digest_range range, scan_size size, const std::function<bool(digest)>& visit) const override {
    return inner_->scan(range, size, visit);
  }
  status write(const write_set& changes, bool sync) override { return inner_->write(changes, sync); }
  status sync() override { return inner_->sync(); }
  status ingest(std::span<const write_set::entry> entries) override { return inner_->ingest(entries); }
  status scan_keys(std::string_view first, const std::function<bool(const located_key&)>& visit) const override {
    return inner_->scan_keys(first, visit);
  }
  status records(std::uint32_t stripe, std::uint64_t first,
                 const std::function<bool(const oplog_record&)>& visit) const override {
    return inner_->records(stripe, first, visit);
  }
  result<std::uint64_t> last_record(std::uint32_t stripe) const override { return inner_->last_record(stripe); }
  result<std::vector<std::pair<std::string, std::string>>> rows(std::string_view prefix) const override {
    return inner_->rows(prefix);
  }

  store& inner() const { return *inner_; }

 private:
  std::shared_ptr<store> inner_;
};

}  // namespace tamis::test
