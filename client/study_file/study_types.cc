// The types of hyper-parameters that no trainer has declared: taken from the values written.
#include <algorithm>
#include <cmath>

#include "client/study_file/study_file.h"
#include "client/study_file/study_values.h"

namespace espalier {
namespace {

// True if a number with a fraction is written anywhere in the expression.
bool HasFraction(const Expression& expression) {
  if (const Value* value = std::get_if<Value>(&expression.form)) {
    const double* number = std::get_if<double>(value);
    return number != nullptr && *number != std::floor(*number);
  }
  for (const Argument& argument : std::get<Call>(expression.form).arguments) {
    if (const auto* single = std::get_if<Expression>(&argument.value)) {
      if (HasFraction(*single)) return true;
    } else {
      for (const Expression& item : std::get<std::vector<Expression>>(argument.value)) {
        if (HasFraction(item)) return true;
      }
    }
  }
  return false;
}

using Values = std::vector<const WrittenValue*>;

// The first that is no sequence of this type; null if all are.
const WrittenValue* FindMisfit(const Values& values, ValueType type) {
  const auto misfit = std::find_if(values.begin(), values.end(), [type](const WrittenValue* value) {
    return !Compile(value->expression, type, value->horizon).has_value();
  });
  return misfit == values.end() ? nullptr : *misfit;
}

// REQUIRES: values is not empty, each is a sequence of some type.
Result<ValueType> TypeOfAll(const Values& values) {
  const WrittenValue* misfit = nullptr;
  ValueType expected = ValueType::kInteger;
  for (const ValueType type : {ValueType::kInteger, ValueType::kFloating, ValueType::kText, ValueType::kBoolean}) {
    const WrittenValue* found = FindMisfit(values, type);
    if (found == nullptr) return type;
    if (found == values.front()) continue;
    misfit = found;
    expected = type;
  }
  return Wrong(misfit->field, "got " + misfit->text + "; expected " + std::string(Name(expected)) + " as in " +
                                  values.front()->field + ": all values of a hyper-parameter are of one type");
}

}  // namespace

Result<Sequence> CompileGuessed(const Expression& expression, Step horizon) {
  if (!HasFraction(expression)) {
    if (Result<Sequence> whole = Compile(expression, ValueType::kInteger, horizon); whole.has_value()) return whole;
  }
  Result<Sequence> floating = Compile(expression, ValueType::kFloating, horizon);
  for (const ValueType type : {ValueType::kText, ValueType::kBoolean}) {
    if (floating.has_value()) break;
    if (Result<Sequence> other = Compile(expression, type, horizon); other.has_value()) return other;
  }
  return floating;
}

Result<ValueTypes> GuessTypes(const StudyFile& file, const Schema& declared) {
  std::map<std::string, Values> undeclared;
  for (const WrittenValue& value : file.written) {
    if (declared.Find(value.name) == nullptr) undeclared[value.name].push_back(&value);
  }
  ValueTypes types;
  for (const auto& [name, values] : undeclared) {
    ESPALIER_ASSIGN(types[name], TypeOfAll(values));
  }
  return types;
}

}  // namespace espalier
