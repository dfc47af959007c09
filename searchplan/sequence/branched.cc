#include "searchplan/sequence/branched.h"

#include "base/check.h"

namespace espalier {
namespace {

struct Pieces {
  std::vector<Expression> pieces;
  std::vector<Expression> milestones;  // one less
};

// The list under this name, or at this place; null if there is none.
const std::vector<Expression>* FindList(const Call& call, const char* name, std::size_t place) {
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& argument = call.arguments[i];
    if (argument.name.empty() ? i == place : argument.name == name) {
      return std::get_if<std::vector<Expression>>(&argument.value);
    }
  }
  return nullptr;
}

// The step that a milestone says; kStepMax if it is no such thing.
Step StepOf(const Expression& milestone) {
  const Value* value = std::get_if<Value>(&milestone.form);
  const auto whole = value == nullptr ? Result<Value>(0.5) : Convert(*value, ValueType::kInteger);
  const auto* step = whole.has_value() ? std::get_if<std::int64_t>(&*whole) : nullptr;
  return step == nullptr ? kStepMax : Step{*step};
}

// One piece, or those of a Piecewise as it is written.
Pieces PiecesOf(const Expression& expression) {
  const auto* call = std::get_if<Call>(&expression.form);
  if (call != nullptr && call->family == "Piecewise" && call->arguments.size() == 2) {
    const auto* pieces = FindList(*call, "pieces", 0);
    const auto* milestones = FindList(*call, "milestones", 1);
    if (pieces != nullptr && milestones != nullptr && pieces->size() == milestones->size() + 1) {
      return {*pieces, *milestones};
    }
  }
  return {{expression}, {}};
}

}  // namespace

Expression Branched(const Expression& before, Step at, const Expression& after) {
  ESPALIER_CHECK(at >= Step{1}) << "a branch at step " << at.value;
  Pieces parts = PiecesOf(before);
  while (!parts.milestones.empty() && StepOf(parts.milestones.back()) >= at) {
    parts.milestones.pop_back();
    parts.pieces.pop_back();
  }
  parts.pieces.push_back(after);
  parts.milestones.push_back(Expression{Value{at.value}});
  Call call{.family = "Piecewise", .arguments = {}};
  call.arguments.push_back({.name = "", .value = std::move(parts.pieces)});
  call.arguments.push_back({.name = "", .value = std::move(parts.milestones)});
  return Expression{std::move(call)};
}

}  // namespace espalier
