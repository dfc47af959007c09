#include "searchplan/sequence/primitive_traits.h"

#include <cmath>

namespace espalier {
namespace {

struct ConstantValueOf {
  std::optional<Value> operator()(const Constant& constant) const { return constant.value; }
  std::optional<Value> operator()(const Linear& linear) const { return If(linear.slope == 0, linear.init); }
  std::optional<Value> operator()(const Exponential& exponential) const {
    return If(exponential.gamma == 1 || exponential.init == 0, exponential.init);
  }
  std::optional<Value> operator()(const CosinePeriod& cosine) const {
    return If(cosine.init == cosine.min_y || cosine.period == 1, cosine.init);
  }
  std::optional<Value> operator()(const Polynomial& polynomial) const {
    return If(polynomial.init == polynomial.end, polynomial.init);
  }
  std::optional<Value> operator()(const InverseSqrt& inverse) const { return If(inverse.init == 0, inverse.init); }
  std::optional<Value> operator()(const SinusoidPeriod& sinusoid) const {
    if (sinusoid.magnitude == 0) return sinusoid.offset;
    if (sinusoid.period == 1) return At({sinusoid, Step{0}}, Step{0});
    return std::nullopt;
  }
  std::optional<Value> operator()(const OneCyclePhase& phase) const { return If(phase.from == phase.to, phase.from); }
  std::optional<Value> operator()(const CooldownPeriod& cooldown) const {
    return If(cooldown.init == cooldown.min_y, cooldown.init);
  }

 private:
  static std::optional<Value> If(bool is_constant, double value) {
    return is_constant ? std::optional<Value>(value) : std::nullopt;
  }
};

struct IsMonotoneAt {
  bool operator()(const Constant&) const { return true; }
  bool operator()(const Linear&) const { return true; }
  bool operator()(const Exponential&) const { return true; }
  bool operator()(const CosinePeriod&) const { return true; }
  bool operator()(const Polynomial&) const { return true; }
  bool operator()(const InverseSqrt&) const { return true; }
  bool operator()(const SinusoidPeriod&) const { return false; }
  bool operator()(const OneCyclePhase&) const { return true; }
  // The mirrored cosine is a difference of two that both grow: rounding may turn it back.
  bool operator()(const CooldownPeriod& cooldown) const { return cooldown.shape != CooldownShape::kMirrorCosine; }
};

bool IsFiniteAt(const Function& function, Step step) { return std::isfinite(std::get<double>(At(function, step))); }

struct NotFiniteIn {
  const Function& function;
  Step last;

  std::optional<Step> operator()(const Constant&) const { return std::nullopt; }
  std::optional<Step> operator()(const Linear&) const { return AsTheEndsTell(); }
  std::optional<Step> operator()(const Exponential&) const { return AsTheEndsTell(); }
  std::optional<Step> operator()(const CosinePeriod& cosine) const { return Between(cosine.init, cosine.min_y); }
  std::optional<Step> operator()(const Polynomial&) const { return AsTheEndsTell(); }
  std::optional<Step> operator()(const InverseSqrt&) const { return AsTheEndsTell(); }
  // No value lies outside of those at its two turns.
  std::optional<Step> operator()(const SinusoidPeriod& sinusoid) const {
    for (double turn : {sinusoid.offset - sinusoid.magnitude, sinusoid.offset + sinusoid.magnitude}) {
      for (const double factor : function.factors) turn = factor * turn;
      if (!std::isfinite(turn)) return function.origin;
    }
    return std::nullopt;
  }
  std::optional<Step> operator()(const OneCyclePhase&) const { return AsTheEndsTell(); }
  std::optional<Step> operator()(const CooldownPeriod& cooldown) const {
    return Between(cooldown.init, cooldown.min_y);
  }

 private:
  // Nothing leaves the way from one value to another.
  std::optional<Step> Between(double init, double min_y) const {
    if (function.factors.empty() && std::isfinite(init - min_y)) return std::nullopt;
    return AsTheEndsTell();
  }

  // Of what is monotone, but for last bits far from the largest number.
  std::optional<Step> AsTheEndsTell() const {
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
};

}  // namespace

std::optional<Value> ConstantValue(const Primitive& primitive) { return std::visit(ConstantValueOf{}, primitive); }

bool IsMonotone(const Primitive& primitive) { return std::visit(IsMonotoneAt{}, primitive); }

std::optional<Step> FirstNotFinite(const Function& function, Step last) {
  return std::visit(NotFiniteIn{function, last}, function.primitive);
}

}  // namespace espalier
