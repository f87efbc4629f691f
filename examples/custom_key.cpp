// Keys of our own type, and a hash of our own.

#include <iostream>
#include <string>
#include <tamis/filters/bloom1.hpp>
#include <tamis/filters/rsqf.hpp>
#include <tamis/key_filter.hpp>

namespace shop {

struct order {
  std::uint32_t customer;
  std::string article;
};
// What makes two orders equal. Found by its argument; nothing else has to be said.
void tamis_key_parts(tamis::key_parts& parts, const order& o) { parts(o.customer, o.article); }

// Names are the same in upper and in lower case. A saved filter remembers the name of this hash.
struct case_blind {
  tamis::digest operator()(std::string_view name) const {
    std::string lower(name);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return tamis::hasher()(lower);
  }
  tamis::hash_identity identity() const { return tamis::custom_hash("shop/case-blind 1"); }
};

}  // namespace shop

int main() {
  auto open_orders = tamis::key_filter<shop::order, tamis::rsqf>::create({.capacity = 1'000, .fpr = 0.001}).value();
  if (open_orders.insert({17, "sieve"}) != tamis::insert_result::inserted) return 1;
  const bool was_open = open_orders.may_contain({17, "sieve"});
  open_orders.erase({17, "sieve"});
  std::cout << "open: " << was_open << ", closed: " << !open_orders.may_contain({17, "sieve"}) << "\n";

  using names = tamis::key_filter<std::string, tamis::bloom1, shop::case_blind>;
  auto customers = names::create({.capacity = 1'000, .fpr = 0.001}).value();
  customers.insert("Alice");
  const auto saved = customers.save_bytes();
  const bool found = names::load_bytes(saved).value().may_contain("ALICE");
  const auto refused = tamis::key_filter<std::string, tamis::bloom1>::load_bytes(saved);
  std::cout << "ALICE: " << found << "\nwith another hash: " << (refused ? "loaded" : refused.message()) << "\n";
  return was_open && found && !refused ? 0 : 1;
}
