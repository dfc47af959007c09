#include "searchplan/sequence/segment_builder.h"

#include <cmath>
#include <optional>

namespace espalier {
namespace {

// The value of a function that cannot change, or none.
std::optional<Value> ConstantValue(const Primitive& primitive) {
  if (const auto* constant = std::get_if<Constant>(&primitive)) return constant->value;
  if (const auto* linear = std::get_if<Linear>(&primitive)) {
    if (linear->slope == 0) return linear->init;
  } else if (const auto* exponential = std::get_if<Exponential>(&primitive)) {
    if (exponential->gamma == 1 || exponential->init == 0) return exponential->init;
  } else if (const auto* cosine = std::get_if<CosinePeriod>(&primitive)) {
    if (cosine->init == cosine->min_y || cosine->period == 1) return cosine->init;
  } else if (const auto* polynomial = std::get_if<Polynomial>(&primitive)) {
    if (polynomial->init == polynomial->end) return polynomial->init;
  } else if (const auto* inverse = std::get_if<InverseSqrt>(&primitive)) {
    if (inverse->init == 0) return inverse->init;
  } else if (const auto* sinusoid = std::get_if<SinusoidPeriod>(&primitive)) {
    if (sinusoid->magnitude == 0) return sinusoid->offset;
    if (sinusoid->period == 1) return At({primitive, Step{0}}, Step{0});
  } else if (const auto* phase = std::get_if<OneCyclePhase>(&primitive)) {
    if (phase->from == phase->to) return phase->from;
  } else if (const auto* cooldown = std::get_if<CooldownPeriod>(&primitive)) {
    if (cooldown->init == cooldown->min_y) return cooldown->init;
  }
  return std::nullopt;
}

bool IsFiniteAt(const Function& function, Step step) { return std::isfinite(std::get<double>(At(function, step))); }

// No value of the sinusoid lies outside of those at its two turns.
bool IsFiniteAtTurns(const SinusoidPeriod& sinusoid, const std::vector<double>& factors) {
  for (double turn : {sinusoid.offset - sinusoid.magnitude, sinusoid.offset + sinusoid.magnitude}) {
    for (const double factor : factors) turn = factor * turn;
    if (!std::isfinite(turn)) return false;
  }
  return true;
}

// The first step of the function's from its origin to `last` whose value is not finite, or none; the origin for a
// sinusoid that might have one. Every other primitive is monotone, but for last bits far from the range's end, so its
// ends tell for all steps between.
std::optional<Step> FirstNotFinite(const Function& function, Step last) {
  if (const auto* sinusoid = std::get_if<SinusoidPeriod>(&function.primitive)) {
    return IsFiniteAtTurns(*sinusoid, function.factors) ? std::nullopt : std::optional(function.origin);
  }
  const auto stays_between = [&](const auto* decay) {  // nothing leaves init to min_y
    return decay != nullptr && function.factors.empty() && std::isfinite(decay->init - decay->min_y);
  };
  if (stays_between(std::get_if<CosinePeriod>(&function.primitive))) return std::nullopt;
  if (stays_between(std::get_if<CooldownPeriod>(&function.primitive))) return std::nullopt;
  if (!IsFiniteAt(function, function.origin)) return function.origin;
  if (IsFiniteAt(function, last)) return std::nullopt;
  Step good = function.origin;
  Step bad = last;
  while (bad - good > 1) {
    const Step middle = good + (bad - good) / 2;
    (IsFiniteAt(function, middle) ? good : bad) = middle;
  }
  return bad;
}

}  // namespace

Result<void> SegmentBuilder::Add(Step origin, Step end, const Primitive& primitive, std::vector<double> factors) {
  if (const auto value = ConstantValue(primitive)) {
    auto converted = Convert(*value, type_);
    if (!converted.has_value()) {
      return MakeError(converted.error().code,
                       "at step " + std::to_string(origin.value) + ": " + converted.error().message);
    }
    return Append(origin, {Constant{*std::move(converted)}, Step{0}});
  }
  Function function{primitive, origin, std::move(factors)};
  if (const auto step = FirstNotFinite(function, end - 1)) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the value at step " + std::to_string(step->value) + " is too large, expected finite values");
  }
  return Append(origin, std::move(function));
}

Result<void> SegmentBuilder::Append(Step start, Function function) {
  if (!segments_.empty() && segments_.back().function == function) return {};
  if (segments_.size() == kSegmentCountMax) {
    return MakeError(ErrorCode::kResourceExhausted, "expected at most " + std::to_string(kSegmentCountMax) +
                                                        " segments up to the horizon, step " +
                                                        std::to_string(start.value) + " begins another");
  }
  segments_.push_back({start, std::move(function)});
  return {};
}

}  // namespace espalier
