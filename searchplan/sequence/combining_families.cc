// Families made of other sequences, which dissolve into their pieces: moved, never re-based.
#include <algorithm>

#include "searchplan/sequence/arguments.h"
#include "searchplan/sequence/families.h"
#include "searchplan/sequence/plateaus.h"
#include "searchplan/sequence/primitive_traits.h"

namespace espalier {
namespace {

// The value at step 0 of the expansion's own clock. REQUIRES: it is floating.
Result<double> FirstValue(const Expansion& expansion) {
  SegmentBuilder first(ValueType::kFloating);
  ESPALIER_RETURN_IF_ERROR(expansion(Step{0}, Step{1}, first));
  return std::get<double>(At(first.segments().front().function, Step{0}));
}

Result<Expansion> ExpandWarmup(const Arguments& arguments) {
  ESPALIER_ASSIGN(const double init, arguments.Number("init"));
  ESPALIER_ASSIGN(const std::int64_t period, arguments.Count("period"));
  ESPALIER_ASSIGN(Expansion then, arguments.Sequence("then"));
  ESPALIER_ASSIGN(const double ramp_end, FirstValue(then));
  return [=, then = std::move(then)](Step origin, Step end, SegmentBuilder& segments) -> Result<void> {
    ESPALIER_RETURN_IF_ERROR(AddRamp(init, ramp_end, period, origin, end, segments));
    if (origin + period >= end) return {};
    return then(origin + period, end, segments);
  };
}

Result<Expansion> ExpandPiecewise(const Arguments& arguments) {
  ESPALIER_ASSIGN(std::vector<Expansion> pieces, arguments.Sequences("pieces"));
  ESPALIER_ASSIGN(std::vector<std::int64_t> milestones, arguments.Milestones("milestones"));
  if (milestones.size() + 1 != pieces.size()) {
    return MakeError(ErrorCode::kInvalidArgument, "milestones must be one fewer than the " +
                                                      std::to_string(pieces.size()) + " pieces, got " +
                                                      std::to_string(milestones.size()));
  }
  return [pieces = std::move(pieces), milestones = std::move(milestones)](Step origin, Step end,
                                                                          SegmentBuilder& segments) -> Result<void> {
    Step start = origin;
    for (std::size_t i = 0; start < end; ++i) {
      const Step next = i < milestones.size() ? std::min(end, origin + milestones[i]) : end;
      ESPALIER_RETURN_IF_ERROR(pieces[i](start, next, segments));
      start = next;
    }
    return {};
  };
}

// Where the segment of this index ends.
Step EndOf(const std::vector<Segment>& segments, std::size_t index, Step end) {
  return index + 1 < segments.size() ? segments[index + 1].start : end;
}

// Distributed over the pieces of f, which need not be whole numbers themselves.
Result<Expansion> ExpandScale(const Arguments& arguments) {
  ESPALIER_ASSIGN(const double factor, arguments.Number("factor"));
  ESPALIER_ASSIGN(Expansion f, arguments.Sequence("f"));
  if (factor == 1) return f;
  return [=, f = std::move(f)](Step origin, Step end, SegmentBuilder& segments) -> Result<void> {
    SegmentBuilder unscaled(ValueType::kFloating);
    ESPALIER_RETURN_IF_ERROR(f(origin, end, unscaled));
    const std::vector<Segment> pieces = unscaled.Take();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Function& function = pieces[i].function;
      const Step piece_end = EndOf(pieces, i, end);
      if (const auto* constant = std::get_if<Constant>(&function.primitive)) {
        const double value = factor * std::get<double>(constant->value);
        ESPALIER_RETURN_IF_ERROR(AddPlateau(value, pieces[i].start, piece_end, segments));
      } else if (factor == 0) {
        ESPALIER_RETURN_IF_ERROR(segments.Add(pieces[i].start, piece_end, Constant{0.0}));
      } else {
        std::vector<double> factors = function.factors;
        factors.push_back(factor);
        ESPALIER_RETURN_IF_ERROR(segments.Add(pieces[i].start, piece_end, function.primitive, std::move(factors)));
      }
    }
    return {};
  };
}

// Adds the plateaus of one piece of f, in force on f's clock up to own_end: one for each step at which it changes.
class EveryPlateaus {
 public:
  EveryPlateaus(std::int64_t k, Step origin, Step end, SegmentBuilder& segments)
      : k_(k), origin_(origin), end_(end), segments_(segments) {}

  Result<void> Add(const Segment& segment, Step own_end) {
    const Function& function = segment.function;
    if (const auto* constant = std::get_if<Constant>(&function.primitive)) {
      return segments_.Add(StepOf(segment.start), StepOf(own_end), *constant);
    }
    const auto value_at = [&function](std::int64_t x) { return std::get<double>(At(function, Step{x})); };
    const bool monotone = IsMonotone(function.primitive);
    if (!monotone) ESPALIER_RETURN_IF_ERROR(CountEach(own_end - segment.start));
    for (Step place = segment.start; place < own_end;) {
      const Step next = monotone ? Step{NextChange(place.value, own_end.value, value_at)} : place + 1;
      ESPALIER_RETURN_IF_ERROR(AddPlateau(value_at(place.value), StepOf(place), StepOf(next), segments_));
      place = next;
    }
    return {};
  }

 private:
  // Steps that are looked at one by one are almost as many plateaus.
  Result<void> CountEach(std::int64_t count) {
    looked_at_ += count;
    if (looked_at_ <= static_cast<std::int64_t>(kSegmentCountMax)) return {};
    return MakeError(ErrorCode::kResourceExhausted, "expected at most " + std::to_string(kSegmentCountMax) +
                                                        " steps of a Sinusoid or a mirror_cosine up to the horizon");
  }

  Step StepOf(Step place) const {
    return place.value <= (end_ - origin_) / k_ ? std::min(end_, origin_ + place.value * k_) : end_;
  }

  const std::int64_t k_;
  const Step origin_;
  const Step end_;
  SegmentBuilder& segments_;
  std::int64_t looked_at_ = 0;
};

Result<Expansion> ExpandEvery(const Arguments& arguments) {
  ESPALIER_ASSIGN(const std::int64_t k, arguments.Count("k"));
  ESPALIER_ASSIGN(Expansion f, arguments.Sequence("f"));
  if (k == 1) return f;
  return [=, f = std::move(f)](Step origin, Step end, SegmentBuilder& segments) -> Result<void> {
    const Step own_end{(end - origin - 1) / k + 1};
    SegmentBuilder own(segments.type());
    const auto expanded = f(Step{0}, own_end, own);
    if (!expanded.has_value()) {
      return MakeError(expanded.error().code, "f, on its own clock: " + expanded.error().message);
    }
    const std::vector<Segment> pieces = own.Take();
    EveryPlateaus plateaus(k, origin, end, segments);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      ESPALIER_RETURN_IF_ERROR(plateaus.Add(pieces[i], EndOf(pieces, i, own_end)));
    }
    return {};
  };
}

}  // namespace

std::vector<Family> CombiningFamilies() {
  return {
      {"Warmup", {{"init"}, {"period"}, {"then"}}, FamilyTypes::kFloating, ExpandWarmup},
      {"Piecewise", {{"pieces"}, {"milestones"}}, FamilyTypes::kAll, ExpandPiecewise},
      {"Scale", {{"factor"}, {"f"}}, FamilyTypes::kNumbers, ExpandScale},
      {"Every", {{"k"}, {"f"}}, FamilyTypes::kNumbers, ExpandEvery},
  };
}

}  // namespace espalier
