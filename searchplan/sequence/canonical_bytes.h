// The canonical bytes, piece by piece: numbers are big-endian, eight bytes each, floating ones as IEEE 754 bits; text
// has its length before it. Every composite begins with the version, so that a later encoding can never be taken for
// this one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "searchplan/sequence/function.h"

namespace espalier {

inline constexpr std::uint8_t kCanonicalVersion = 1;

void AppendByte(std::string& bytes, std::uint8_t byte);
void AppendNumber(std::string& bytes, std::int64_t number);
void AppendText(std::string& bytes, std::string_view text);
void AppendFunction(std::string& bytes, const Function& function);  // with its own version, knows its own end

// Takes the pieces off the front of bytes. Error: kInvalidArgument for what the functions above do not write.
class CanonicalReader {
 public:
  explicit CanonicalReader(std::string_view bytes) : rest_(bytes) {}

  bool AtEnd() const { return rest_.empty(); }

  Result<std::uint8_t> TakeByte();
  Result<std::int64_t> TakeNumber();
  Result<std::string> TakeText();
  Result<void> TakeVersion();
  Result<Function> TakeFunction();

 private:
  Result<double> TakeFloating();
  Result<double> TakePositive();
  Result<std::int64_t> TakePeriod();
  Result<Value> TakeValue();
  Result<Primitive> TakePrimitive(std::uint8_t tag);
  Result<Primitive> TakeSinusoidPeriod();
  Result<Primitive> TakeOneCyclePhase();
  Result<Primitive> TakeCooldownPeriod();

  std::string_view rest_;
};

}  // namespace espalier
