// Sequences as users write them: what parses prints and parses back to the same; what compiles does so again from its
// canonical form, and has a value at every step.
#include "searchplan/sequence/sequence.h"
#include "tests/fuzz/fuzz.h"

namespace espalier {
namespace {

constexpr std::int64_t kHorizon = 200;

void Try(const Expression& expression, ValueType type) {
  const Result<Sequence> sequence = Compile(expression, type, Step{kHorizon});
  if (!sequence.has_value()) return;
  for (std::int64_t step = 0; step < kHorizon; ++step) static_cast<void>(At(*sequence, Step{step}));
  const std::string canonical = PrintCanonical(*sequence);
  const Result<Expression> printed = ParseExpression(canonical);
  ESPALIER_CHECK(printed.has_value()) << canonical;
  const Result<Sequence> again = Compile(*printed, type, Step{kHorizon});
  ESPALIER_CHECK(again.has_value() && again->segments == sequence->segments) << canonical;
}

}  // namespace
}  // namespace espalier

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  const Result<Expression> expression = ParseExpression(fuzz::TextOf(data, size));
  if (!expression.has_value()) return 0;
  const std::string printed = Print(*expression);
  const Result<Expression> again = ParseExpression(printed);
  ESPALIER_CHECK(again.has_value() && *again == *expression) << printed;
  for (const ValueType type : {ValueType::kFloating, ValueType::kInteger, ValueType::kText, ValueType::kBoolean}) {
    Try(*expression, type);
  }
  return 0;
}
