#include "searchplan/sequence/sequence.h"

#include <algorithm>

#include "base/check.h"
#include "searchplan/sequence/canonical_bytes.h"
#include "searchplan/sequence/families.h"
#include "searchplan/sequence/message_text.h"
#include "searchplan/sequence/segment_builder.h"

namespace espalier {
namespace {

bool IsConstant(const Expression& expression) {
  const auto* call = std::get_if<Call>(&expression.form);
  return call == nullptr || call->family == "Constant";
}

}  // namespace

Result<Sequence> Compile(const Expression& expression, ValueType type, Step horizon) {
  if (horizon < Step{1} || horizon > kStepMax) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the horizon must be from 1 to 2^53 steps, got " + std::to_string(horizon.value));
  }
  ESPALIER_ASSIGN(const Expansion expansion, Expand(expression, type));
  SegmentBuilder segments(type);
  ESPALIER_RETURN_IF_ERROR(expansion(Step{0}, horizon, segments));
  return Sequence{type, segments.Take(), horizon};
}

Result<Sequence> CompileFor(const HyperParameter& hyper_parameter, const Expression& expression, Step horizon) {
  if (hyper_parameter.initial && !IsConstant(expression)) {
    return MakeError(ErrorCode::kInvalidArgument, "fixed at step 0, expected a Constant, got " +
                                                      Shortened(std::get<Call>(expression.form).family) + "(...)");
  }
  return Compile(expression, hyper_parameter.type, horizon);
}

const Function& FunctionAt(const Sequence& sequence, Step step) {
  ESPALIER_CHECK(Step{0} <= step && step < sequence.horizon) << "step " << step.value;
  const auto after = std::upper_bound(sequence.segments.begin(), sequence.segments.end(), step,
                                      [](Step s, const Segment& segment) { return s < segment.start; });
  return std::prev(after)->function;
}

Value At(const Sequence& sequence, Step step) { return At(FunctionAt(sequence, step), step); }

std::string PrintCanonical(const Sequence& sequence) {
  std::string pieces;
  std::string milestones;
  for (const Segment& segment : sequence.segments) {
    const bool constant = std::holds_alternative<Constant>(segment.function.primitive);
    ESPALIER_CHECK(constant || segment.function.origin == segment.start) << "every piece begins at its origin";
    Function on_own_clock = segment.function;
    on_own_clock.origin = Step{0};
    const std::string piece = Print(on_own_clock);
    if (sequence.segments.size() == 1) return piece;
    if (!pieces.empty()) {
      pieces += ", ";
      milestones += (milestones.empty() ? "" : ", ") + std::to_string(segment.start.value);
    }
    pieces += piece;
  }
  return "Piecewise([" + pieces + "], [" + milestones + "])";
}

Digest128 DigestOf(const Sequence& sequence) {
  std::string bytes;
  AppendByte(bytes, kCanonicalVersion);
  AppendByte(bytes, static_cast<std::uint8_t>(sequence.type));
  for (const Segment& segment : sequence.segments) {
    AppendNumber(bytes, segment.start.value);
    AppendFunction(bytes, segment.function);
  }
  return DigestOf(bytes);
}

}  // namespace espalier
