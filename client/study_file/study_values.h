// Values in a study file: scalars as the notation has them, whole numbers, names; errors say field and expectation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "client/study_file/yaml_tree.h"
#include "searchplan/sequence/expression.h"

namespace espalier {

// kInvalidArgument, of a field.
tl::unexpected<Error> Wrong(const std::string& field, const std::string& message);

// "a, b, c"
std::string Joined(const std::vector<std::string_view>& names);

// "; did you mean nearest? expected one of: a, b, c". REQUIRES: `known` is not empty.
std::string DidYouMean(const std::string& name, const std::vector<std::string_view>& known);

// For messages: a scalar's text, or what kind of thing it is.
std::string Describe(const YamlNode& node);

// Error: no mapping, or a key that is none of `keys` (naming the nearest).
Result<void> ExpectMapping(const YamlNode& node, const std::string& field, const std::vector<std::string_view>& keys);

// The text under `key`. Error, with `key` as field: missing, empty, or no scalar.
Result<std::string> Text(const YamlNode& parent, const std::string& key, const std::string& expected);

// A scalar as the notation has it: a number, a boolean, an expression, or else a text.
Result<Expression> ToExpression(const YamlNode& node, const std::string& field);

// The same where only plain values make sense.
Result<Value> ToOption(const YamlNode& node, const std::string& field);

// "epoch", "200 updates".
Result<StepMeaning> ToStepMeaning(const YamlNode& node, const std::string& field);

// "90s", "30m", "2h": a whole number above 0 with its unit, of at most 1,000 days.
Result<Seconds> ToDuration(const YamlNode& node, const std::string& field);

// As ToDuration reads it, in the largest unit that gives a whole number. REQUIRES: ToDuration gave it.
std::string DurationText(Seconds duration);

// A finite number.
Result<double> ToNumber(const YamlNode& node, const std::string& field);

// A number of hours, above 0 and at most 24,000,000.
Result<Seconds> ToHours(const YamlNode& node, const std::string& field);
double HoursIn(Seconds duration);

// What an option of the command line gives as NAME=VALUE, such as "lr=Exponential(0.1, 0.9)".
struct Setting {
  std::string name;
  Expression expression;
};
Result<Setting> ParseSetting(const std::string& text, const std::string& option);

// What an option gives: a number; a whole one from 0 to 2^53. Error: kInvalidArgument, of the option.
Result<double> ParseNumber(const std::string& text, const std::string& option);
Result<std::int64_t> ParseWhole(const std::string& text, const std::string& option);

// "a,b": what stands between the commas, without blanks around it; at least one, which may be empty.
std::vector<std::string> ListOf(const std::string& text);

// From `least` to 2^53.
Result<std::int64_t> WholeNumber(const YamlNode& node, const std::string& field, std::int64_t least);

}  // namespace espalier
