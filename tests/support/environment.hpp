#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace tamis::test {

// Sets an environment variable, or removes it (nullptr), until the end of the scope.
class environment_variable {
 public:
  environment_variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    assign(value);
  }
  environment_variable(const environment_variable&) = delete;
  environment_variable& operator=(const environment_variable&) = delete;
  ~environment_variable() { assign(old_ ? old_->c_str() : nullptr); }

 private:
  void assign(const char* value) {
    if (value != nullptr) {
      ::setenv(name_, value, 1);
    } else {
      ::unsetenv(name_);
    }
  }

  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace tamis::test
