// Has this been seen before? A set that answers "certainly not" or "maybe", grows, and forgets what is erased.

#include <iostream>
#include <string>
#include <tamis/tamis.hpp>

int main() {
  using names = tamis::key_filter<std::string, tamis::evergreen>;
  auto seen = names::create({.capacity = 1'000, .fpr = 0.01}).value();  // grows beyond that
  if (seen.insert("alice") != tamis::insert_result::inserted) return 1;
  for (const char* name : {"alice", "bob"}) {
    std::cout << name << ": " << (seen.may_contain(name) ? "maybe" : "no") << "\n";
  }
  seen.erase("alice");
}
