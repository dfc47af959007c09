// What a user writes: `Name(arguments)`, by position or by name; a bare number, text or boolean is a Constant.
// One grammar everywhere: study files, the command line, requests, Python's and C++'s printed form.
//   expression = number | "text" | true | false | Name "(" [argument {"," argument}] ")"
//   argument   = [name "="] (expression | "[" [expression {"," expression}] "]")
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "searchplan/sequence/value.h"

namespace espalier {

inline constexpr int kExpressionDepthMax = 64;
inline constexpr std::size_t kExpressionBytesMax = std::size_t{1} << 20;  // as text

struct Argument;

// A family with its arguments as written. Names and counts are checked by Compile, not here.
struct Call {
  std::string family;
  std::vector<Argument> arguments;
};

struct Expression {
  std::variant<Value, Call> form;
};

struct Argument {
  std::string name;  // empty: by position
  std::variant<Expression, std::vector<Expression>> value;
};

bool operator==(const Expression& a, const Expression& b);

// Error: kInvalidArgument, with the column and what was expected there. A bare word is refused unless it is true or
// false: text is quoted, with \" \\ \n \t \xHH inside. Digits alone are an integer; with a point or an exponent they
// are floating. Calls nest at most kExpressionDepthMax deep; the text has at most kExpressionBytesMax bytes.
Result<Expression> ParseExpression(std::string_view text);

// In the notation, with one space after commas; parses back to an equal expression.
std::string Print(const Expression& expression);

}  // namespace espalier
