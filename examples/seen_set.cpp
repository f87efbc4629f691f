// Has this been seen before? A set that answers "certainly not" or "maybe", grows, and forgets what is erased.

#include <iostream>
#include <string>
#include <tamis/tamis.hpp>

int main() {
  using names = tamis::key_filter<std::string, tamis::evergreen>;
  auto seen = names::create({.capacity = 1'000, .fpr = 0.01}).value();  // grows beyond that by itself
  if (seen.insert("alice") != tamis::insert_result::inserted) return 1;
  std::cout << "alice: " << (seen.may_contain("alice") ? "maybe" : "no") << "\n";  // "maybe" for all that was inserted
  std::cout << "bob: " << (seen.may_contain("bob") ? "maybe" : "no") << "\n";      // "no" for 99 % of everything else
  seen.erase("alice");
}
