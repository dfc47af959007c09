// Short forms for the tests of sequences.
#pragma once

#include <bit>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "searchplan/sequence/sequence.h"

namespace espalier {

inline Expression Parsed(std::string_view text) {
  CAPTURE(text);
  const auto expression = ParseExpression(text);
  INFO((expression.has_value() ? "" : expression.error().message));
  REQUIRE(expression.has_value());
  return *expression;
}

inline Sequence Compiled(std::string_view text, std::int64_t horizon, ValueType type = ValueType::kFloating) {
  CAPTURE(text, horizon);
  const auto sequence = Compile(Parsed(text), type, Step{horizon});
  INFO((sequence.has_value() ? "" : sequence.error().message));
  REQUIRE(sequence.has_value());
  return *sequence;
}

// The canonical form, printed.
inline std::string Canonical(std::string_view text, std::int64_t horizon = 100, ValueType type = ValueType::kFloating) {
  return PrintCanonical(Compiled(text, horizon, type));
}

// The error of parsing or compiling.
inline Error Refused(std::string_view text, std::int64_t horizon = 100, ValueType type = ValueType::kFloating) {
  CAPTURE(text, horizon);
  const auto expression = ParseExpression(text);
  if (!expression.has_value()) return expression.error();
  const auto sequence = Compile(*expression, type, Step{horizon});
  REQUIRE_FALSE(sequence.has_value());
  return sequence.error();
}

inline double FloatingAt(const Sequence& sequence, std::int64_t step) {
  return std::get<double>(At(sequence, Step{step}));
}

}  // namespace espalier
