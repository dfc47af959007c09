#include "searchplan/sequence/canonical_bytes.h"

#include <bit>
#include <cmath>

#include "searchplan/sequence/exact_math.h"
#include "searchplan/sequence/expression.h"

namespace espalier {
namespace {

// Frozen: they stand in databases. The order of Primitive's alternatives must not matter.
enum Tag : std::uint8_t {
  kConstantTag = 1,
  kLinearTag = 2,
  kExponentialTag = 3,
  kCosinePeriodTag = 4,
  kPolynomialTag = 5,
  kInverseSqrtTag = 6,
  kSinusoidPeriodTag = 7,
  kOneCyclePhaseTag = 8,
  kFactorTag = 9,  // and the factor; then another, or the primitive: the last factor to multiply comes first
  kCooldownPeriodTag = 10,
};
enum TypeTag : std::uint8_t { kBooleanTag = 1, kIntegerTag = 2, kFloatingTag = 3, kTextTag = 4 };

tl::unexpected<Error> Malformed(std::string_view what) {
  return MakeError(ErrorCode::kInvalidArgument, "canonical bytes: " + std::string(what));
}

void AppendFloating(std::string& bytes, double number) { AppendNumber(bytes, std::bit_cast<std::int64_t>(number)); }

void AppendValue(std::string& bytes, const Value& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) {
    AppendByte(bytes, kBooleanTag);
    AppendByte(bytes, *boolean ? 1 : 0);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    AppendByte(bytes, kIntegerTag);
    AppendNumber(bytes, *integer);
  } else if (const auto* floating = std::get_if<double>(&value)) {
    AppendByte(bytes, kFloatingTag);
    AppendFloating(bytes, *floating);
  } else {
    AppendByte(bytes, kTextTag);
    AppendText(bytes, std::get<std::string>(value));
  }
}

void AppendPrimitive(std::string& bytes, const Constant& constant) {
  AppendByte(bytes, kConstantTag);
  AppendValue(bytes, constant.value);
}

void AppendPrimitive(std::string& bytes, const Linear& linear) {
  AppendByte(bytes, kLinearTag);
  AppendFloating(bytes, linear.init);
  AppendFloating(bytes, linear.slope);
}

void AppendPrimitive(std::string& bytes, const Exponential& exponential) {
  AppendByte(bytes, kExponentialTag);
  AppendFloating(bytes, exponential.init);
  AppendFloating(bytes, exponential.gamma);
}

void AppendPrimitive(std::string& bytes, const CosinePeriod& cosine) {
  AppendByte(bytes, kCosinePeriodTag);
  AppendFloating(bytes, cosine.init);
  AppendFloating(bytes, cosine.min_y);
  AppendNumber(bytes, cosine.period);
}

void AppendPrimitive(std::string& bytes, const Polynomial& polynomial) {
  AppendByte(bytes, kPolynomialTag);
  AppendFloating(bytes, polynomial.init);
  AppendNumber(bytes, polynomial.period);
  AppendFloating(bytes, polynomial.power);
  AppendFloating(bytes, polynomial.end);
}

void AppendPrimitive(std::string& bytes, const InverseSqrt& inverse) {
  AppendByte(bytes, kInverseSqrtTag);
  AppendFloating(bytes, inverse.init);
  AppendFloating(bytes, inverse.timescale);
}

void AppendPrimitive(std::string& bytes, const SinusoidPeriod& sinusoid) {
  AppendByte(bytes, kSinusoidPeriodTag);
  AppendFloating(bytes, sinusoid.magnitude);
  AppendNumber(bytes, sinusoid.period);
  AppendFloating(bytes, sinusoid.phase);
  AppendFloating(bytes, sinusoid.offset);
}

void AppendPrimitive(std::string& bytes, const OneCyclePhase& phase) {
  AppendByte(bytes, kOneCyclePhaseTag);
  AppendFloating(bytes, phase.from);
  AppendFloating(bytes, phase.to);
  AppendFloating(bytes, phase.start);
  AppendFloating(bytes, phase.end);
  AppendByte(bytes, static_cast<std::uint8_t>(phase.anneal));
}

void AppendPrimitive(std::string& bytes, const CooldownPeriod& cooldown) {
  AppendByte(bytes, kCooldownPeriodTag);
  AppendFloating(bytes, cooldown.init);
  AppendFloating(bytes, cooldown.min_y);
  AppendNumber(bytes, cooldown.period);
  AppendByte(bytes, static_cast<std::uint8_t>(cooldown.shape));
}

}  // namespace

void AppendByte(std::string& bytes, std::uint8_t byte) { bytes += static_cast<char>(byte); }

void AppendNumber(std::string& bytes, std::int64_t number) {
  const auto bits = static_cast<std::uint64_t>(number);
  for (int shift = 56; shift >= 0; shift -= 8) AppendByte(bytes, static_cast<std::uint8_t>(bits >> shift));
}

void AppendText(std::string& bytes, std::string_view text) {
  AppendNumber(bytes, static_cast<std::int64_t>(text.size()));
  bytes += text;
}

void AppendFunction(std::string& bytes, const Function& function) {
  AppendByte(bytes, kCanonicalVersion);
  for (auto factor = function.factors.rbegin(); factor != function.factors.rend(); ++factor) {
    AppendByte(bytes, kFactorTag);
    AppendFloating(bytes, *factor);
  }
  std::visit([&bytes](const auto& primitive) { AppendPrimitive(bytes, primitive); }, function.primitive);
  if (!std::holds_alternative<Constant>(function.primitive)) AppendNumber(bytes, function.origin.value);
}

Result<std::uint8_t> CanonicalReader::TakeByte() {
  if (rest_.empty()) return Malformed("they end too early");
  const auto byte = static_cast<std::uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return byte;
}

Result<std::int64_t> CanonicalReader::TakeNumber() {
  if (rest_.size() < 8) return Malformed("they end too early");
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits = (bits << 8) | static_cast<std::uint8_t>(rest_[i]);
  rest_.remove_prefix(8);
  return static_cast<std::int64_t>(bits);
}

Result<std::string> CanonicalReader::TakeText() {
  ESPALIER_ASSIGN(const std::int64_t size, TakeNumber());
  if (size < 0 || static_cast<std::uint64_t>(size) > rest_.size()) return Malformed("text longer than the bytes");
  std::string text(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return text;
}

Result<void> CanonicalReader::TakeVersion() {
  ESPALIER_ASSIGN(const std::uint8_t version, TakeByte());
  if (version == kCanonicalVersion) return {};
  return Malformed("expected version " + std::to_string(kCanonicalVersion) + ", got " + std::to_string(version));
}

Result<double> CanonicalReader::TakeFloating() {
  ESPALIER_ASSIGN(const std::int64_t bits, TakeNumber());
  const auto number = std::bit_cast<double>(bits);
  if (!std::isfinite(number) || (number == 0 && bits != 0))
    return Malformed("expected a finite number other than -0.0");
  return number;
}

Result<Value> CanonicalReader::TakeValue() {
  ESPALIER_ASSIGN(const std::uint8_t tag, TakeByte());
  if (tag == kBooleanTag) {
    ESPALIER_ASSIGN(const std::uint8_t byte, TakeByte());
    if (byte > 1) return Malformed("expected a boolean of 0 or 1");
    return byte == 1;
  }
  if (tag == kIntegerTag) return TakeNumber();
  if (tag == kFloatingTag) return TakeFloating();
  if (tag != kTextTag) return Malformed("unknown type");
  return TakeText();
}

Result<double> CanonicalReader::TakePositive() {
  ESPALIER_ASSIGN(const double number, TakeFloating());
  if (number <= 0) return Malformed("expected a number > 0");
  return number;
}

Result<std::int64_t> CanonicalReader::TakePeriod() {
  ESPALIER_ASSIGN(const std::int64_t period, TakeNumber());
  if (period < 1 || period > kStepMax.value) return Malformed("expected a period from 1 to 2^53");
  return period;
}

Result<Primitive> CanonicalReader::TakePrimitive(std::uint8_t tag) {
  switch (tag) {
    case kConstantTag: {
      ESPALIER_ASSIGN(Value value, TakeValue());
      return Constant{std::move(value)};
    }
    case kLinearTag: {
      ESPALIER_ASSIGN(const double init, TakeFloating());
      ESPALIER_ASSIGN(const double slope, TakeFloating());
      return Linear{init, slope};
    }
    case kExponentialTag: {
      ESPALIER_ASSIGN(const double init, TakeFloating());
      ESPALIER_ASSIGN(const double gamma, TakePositive());
      return Exponential{init, gamma};
    }
    case kCosinePeriodTag: {
      ESPALIER_ASSIGN(const double init, TakeFloating());
      ESPALIER_ASSIGN(const double min_y, TakeFloating());
      ESPALIER_ASSIGN(const std::int64_t period, TakePeriod());
      return CosinePeriod{init, min_y, period};
    }
    case kPolynomialTag: {
      ESPALIER_ASSIGN(const double init, TakeFloating());
      ESPALIER_ASSIGN(const std::int64_t period, TakePeriod());
      ESPALIER_ASSIGN(const double power, TakePositive());
      ESPALIER_ASSIGN(const double end, TakeFloating());
      return Polynomial{init, period, power, end};
    }
    case kInverseSqrtTag: {
      ESPALIER_ASSIGN(const double init, TakeFloating());
      ESPALIER_ASSIGN(const double timescale, TakePositive());
      return InverseSqrt{init, timescale};
    }
    case kSinusoidPeriodTag:
      return TakeSinusoidPeriod();
    case kOneCyclePhaseTag:
      return TakeOneCyclePhase();
    case kCooldownPeriodTag:
      return TakeCooldownPeriod();
    default:
      return Malformed("unknown function");
  }
}

Result<Primitive> CanonicalReader::TakeSinusoidPeriod() {
  ESPALIER_ASSIGN(const double magnitude, TakeFloating());
  ESPALIER_ASSIGN(const std::int64_t period, TakePeriod());
  ESPALIER_ASSIGN(const double phase, TakeFloating());
  ESPALIER_ASSIGN(const double offset, TakeFloating());
  if (phase < -kPhaseMax || phase > kPhaseMax) return Malformed("expected a phase from -2^53 to 2^53");
  return SinusoidPeriod{magnitude, period, phase, offset};
}

Result<Primitive> CanonicalReader::TakeOneCyclePhase() {
  ESPALIER_ASSIGN(const double from, TakeFloating());
  ESPALIER_ASSIGN(const double to, TakeFloating());
  ESPALIER_ASSIGN(const double start, TakeFloating());
  ESPALIER_ASSIGN(const double end, TakeFloating());
  ESPALIER_ASSIGN(const std::uint8_t anneal, TakeByte());
  if (start < 0 || start >= end || end > static_cast<double>(kStepMax.value)) {
    return Malformed("expected a phase between 0 and 2^53");
  }
  if (anneal > static_cast<std::uint8_t>(Anneal::kLinear)) return Malformed("unknown anneal");
  const OneCyclePhase phase{from, to, start, end, static_cast<Anneal>(anneal)};
  if (static_cast<double>(FirstPlace(phase)) > end) return Malformed("expected a phase that some step lies in");
  return phase;
}

Result<Primitive> CanonicalReader::TakeCooldownPeriod() {
  ESPALIER_ASSIGN(const double init, TakeFloating());
  ESPALIER_ASSIGN(const double min_y, TakeFloating());
  ESPALIER_ASSIGN(const std::int64_t period, TakePeriod());
  ESPALIER_ASSIGN(const std::uint8_t shape, TakeByte());
  if (shape > static_cast<std::uint8_t>(CooldownShape::kMirrorCosine)) return Malformed("unknown shape");
  return CooldownPeriod{init, min_y, period, static_cast<CooldownShape>(shape)};
}

Result<Function> CanonicalReader::TakeFunction() {
  ESPALIER_RETURN_IF_ERROR(TakeVersion());
  Function function;
  ESPALIER_ASSIGN(std::uint8_t tag, TakeByte());
  while (tag == kFactorTag) {
    ESPALIER_ASSIGN(const double factor, TakeFloating());
    function.factors.insert(function.factors.begin(), factor);
    if (function.factors.size() > kExpressionDepthMax) return Malformed("too many factors");
    ESPALIER_ASSIGN(tag, TakeByte());
  }
  ESPALIER_ASSIGN(function.primitive, TakePrimitive(tag));
  if (std::holds_alternative<Constant>(function.primitive)) {
    if (!function.factors.empty()) return Malformed("a constant with factors");
    return function;
  }
  ESPALIER_ASSIGN(function.origin.value, TakeNumber());
  if (function.origin < Step{0} || function.origin > kStepMax) return Malformed("expected an origin from 0 to 2^53");
  return function;
}

std::string CanonicalBytes(const Function& function) {
  std::string bytes;
  AppendFunction(bytes, function);
  return bytes;
}

Result<Function> ParseCanonicalBytes(std::string_view bytes) {
  CanonicalReader reader(bytes);
  ESPALIER_ASSIGN(Function function, reader.TakeFunction());
  if (!reader.AtEnd()) return Malformed("something follows the function");
  return function;
}

}  // namespace espalier
