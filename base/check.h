// ESPALIER_CHECK(condition) << "why": a broken promise of the program itself. Prints the place and aborts the process,
// which is safe: PostgreSQL is the truth and a restart recovers from it. On in every build.
#pragma once

#include <sstream>

namespace espalier {

class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition);
  [[noreturn]] ~CheckFailure();
  template <class T>
  CheckFailure& operator<<(const T& value) {
    message_ << value;
    return *this;
  }

 private:
  std::ostringstream message_;
};

}  // namespace espalier

#define ESPALIER_CHECK(condition) \
  if (condition) {                \
  } else                          \
    ::espalier::CheckFailure(__FILE__, __LINE__, #condition)
