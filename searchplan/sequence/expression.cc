#include "searchplan/sequence/expression.h"

namespace espalier {
namespace {

bool Equal(const Argument& a, const Argument& b) { return a.name == b.name && a.value == b.value; }

bool Equal(const Call& a, const Call& b) {
  if (a.family != b.family || a.arguments.size() != b.arguments.size()) return false;
  for (std::size_t i = 0; i < a.arguments.size(); ++i) {
    if (!Equal(a.arguments[i], b.arguments[i])) return false;
  }
  return true;
}

std::string PrintList(const std::vector<Expression>& list) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) text += ", ";
    text += Print(list[i]);
  }
  return text + "]";
}

std::string PrintArgument(const Argument& argument) {
  const std::string prefix = argument.name.empty() ? "" : argument.name + "=";
  if (const auto* list = std::get_if<std::vector<Expression>>(&argument.value)) return prefix + PrintList(*list);
  return prefix + Print(std::get<Expression>(argument.value));
}

}  // namespace

bool operator==(const Expression& a, const Expression& b) {
  if (a.form.index() != b.form.index()) return false;
  if (const auto* value = std::get_if<Value>(&a.form)) return *value == std::get<Value>(b.form);
  return Equal(std::get<Call>(a.form), std::get<Call>(b.form));
}

std::string Print(const Expression& expression) {
  if (const auto* value = std::get_if<Value>(&expression.form)) return Print(*value);
  const auto& call = std::get<Call>(expression.form);
  std::string text = call.family + "(";
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (i > 0) text += ", ";
    text += PrintArgument(call.arguments[i]);
  }
  return text + ")";
}

}  // namespace espalier
