#include "searchplan/sequence/segment_builder.h"

#include "searchplan/sequence/primitive_traits.h"

namespace espalier {

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
