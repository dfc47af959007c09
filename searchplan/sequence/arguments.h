// The arguments of one call, matched to its family's parameters and read with their types.
// All errors are kInvalidArgument and name the argument, what is expected and what was given.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "searchplan/sequence/expression.h"
#include "searchplan/sequence/families.h"

namespace espalier {

// The value as `type`; but for an integer any finite number passes as it is, since only results up to the horizon must
// be whole. Error: kInvalidArgument.
Result<Value> OfKind(const Value& value, ValueType type);

// Borrows the family and the call; they must outlive it. The readers REQUIRE a name among the family's parameters.
class Arguments {
 public:
  // Error: one unknown, given twice, missing, or too many.
  static Result<Arguments> Match(const Family& family, const Call& call, ValueType type, int depth);

  // Of the hyper-parameter that the sequence is for.
  ValueType type() const { return type_; }

  Result<double> Number(std::string_view name) const;             // finite
  Result<double> Positive(std::string_view name) const;           // finite and > 0
  Result<std::int64_t> Count(std::string_view name) const;        // whole (5.0 is), from 1 to 2^53
  Result<std::int64_t> CountOrNone(std::string_view name) const;  // the same from 0
  Result<bool> Boolean(std::string_view name) const;
  Result<std::vector<std::int64_t>> Milestones(std::string_view name) const;  // counts, strictly increasing

  // Text that is one of `words`.
  Result<std::string> Word(std::string_view name, const std::vector<std::string_view>& words) const;

  // As OfKind, for the hyper-parameter's type.
  Result<Value> ValueOfKind(std::string_view name) const;
  Result<std::vector<Value>> ValuesOfKind(std::string_view name) const;  // at least one

  Result<Expansion> Sequence(std::string_view name) const;
  Result<std::vector<Expansion>> Sequences(std::string_view name) const;  // at least one

 private:
  Arguments(const Family& family, ValueType type, int depth);

  const Argument* Given(std::string_view name) const;  // null: the default stands
  Result<const Expression*> Single(std::string_view name) const;
  Result<const std::vector<Expression>*> List(std::string_view name) const;
  Result<Value> Scalar(std::string_view name) const;

  const Family& family_;
  std::vector<const Argument*> given_;  // by parameter
  ValueType type_;
  int depth_;
};

}  // namespace espalier
