// The parser of the notation: one function for each rule of the grammar in expression.h.
#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "searchplan/sequence/expression.h"

namespace espalier {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNumberStart(char c) { return IsDigit(c) || c == '-' || c == '.'; }
bool IsInsideCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }  // of UTF-8
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Expression> ParseWhole() {
    ESPALIER_ASSIGN(Expression expression, ParseExpression());
    SkipSpaces();
    if (place_ < text_.size()) return Expected("the end");
    return expression;
  }

 private:
  // expression = number | "text" | true | false | Name "(" [argument {"," argument}] ")"
  Result<Expression> ParseExpression() {
    SkipSpaces();
    const char next = Peek();
    if (IsNumberStart(next)) return ParseNumber();
    if (next == '"') return ParseText();
    if (!IsWordStart(next)) return Expected("a number, \"text\", true, false or a function such as Cosine(...)");
    const std::size_t start = place_;
    std::string word = TakeWord();
    if (Take('(')) return ParseCall(std::move(word));
    if (word == "true" || word == "false") return Expression{Value{word == "true"}};
    place_ = start;
    return Expected("a finite number, text in double quotes, true, false or a function with its arguments");
  }

  Result<Expression> ParseCall(std::string family) {
    Call call{std::move(family), {}};
    if (Take(')')) return Expression{std::move(call)};
    if (++depth_ > kExpressionDepthMax) return TooDeep();
    do {
      ESPALIER_ASSIGN(Argument argument, ParseArgument());
      call.arguments.push_back(std::move(argument));
    } while (Take(','));
    if (!Take(')')) return Expected("',' or ')'");
    --depth_;
    return Expression{std::move(call)};
  }

  // argument = [name "="] (expression | "[" [expression {"," expression}] "]")
  Result<Argument> ParseArgument() {
    Argument argument;
    SkipSpaces();
    const std::size_t start = place_;
    if (IsWordStart(Peek())) {
      std::string word = TakeWord();
      if (Take('=')) {
        argument.name = std::move(word);
      } else {
        place_ = start;
      }
    }
    if (Take('[')) {
      ESPALIER_ASSIGN(argument.value, ParseList());
    } else {
      ESPALIER_ASSIGN(argument.value, ParseExpression());
    }
    return argument;
  }

  Result<std::vector<Expression>> ParseList() {
    std::vector<Expression> list;
    if (Take(']')) return list;
    do {
      ESPALIER_ASSIGN(Expression expression, ParseExpression());
      list.push_back(std::move(expression));
    } while (Take(','));
    if (!Take(']')) return Expected("',' or ']'");
    return list;
  }

  Result<Expression> ParseNumber() {
    const std::size_t start = place_;
    if (Peek() == '-') ++place_;
    std::size_t digit_count = TakeDigits();
    bool whole = true;
    if (Peek() == '.') {
      whole = false;
      ++place_;
      digit_count += TakeDigits();
    }
    if (digit_count == 0) return Expected("a digit");
    if (Peek() == 'e' || Peek() == 'E') {
      whole = false;
      ++place_;
      if (Peek() == '+' || Peek() == '-') ++place_;
      if (TakeDigits() == 0) return Expected("a digit of the exponent");
    }
    return whole ? ReadNumber<std::int64_t>(start) : ReadNumber<double>(start);
  }

  // The number from `start` to the current place.
  template <class Number>
  Result<Expression> ReadNumber(std::size_t start) {
    Number number{};
    const auto [end, error] = std::from_chars(text_.data() + start, text_.data() + place_, number);
    if (error != std::errc{} || end != text_.data() + place_) {
      place_ = start;
      return Expected(std::is_same_v<Number, double> ? "a number that floating point can hold"
                                                     : "a whole number of at most 64 bits");
    }
    if constexpr (std::is_same_v<Number, double>) return Expression{Value{number == 0 ? 0.0 : number}};
    return Expression{Value{number}};
  }

  Result<Expression> ParseText() {
    const std::size_t start = place_;
    std::string value;
    for (++place_; place_ < text_.size(); ++place_) {
      if (text_[place_] == '"') {
        if (!IsValidText(value)) {
          place_ = start;
          return Expected("a text in UTF-8 without zero bytes");
        }
        ++place_;
        return Expression{Value{std::move(value)}};
      }
      if (text_[place_] == '\\') {
        ++place_;
        ESPALIER_ASSIGN(const char escaped, ReadEscape());
        value += escaped;
      } else {
        value += text_[place_];
      }
    }
    return Expected("the text's closing quote");
  }

  // Of what follows a backslash; leaves the place at its last character.
  Result<char> ReadEscape() {
    const char c = Peek();
    if (c == '"' || c == '\\') return c;
    if (c == 'n') return '\n';
    if (c == 't') return '\t';
    const std::string_view digits = text_.substr(std::min(place_ + 1, text_.size()), 2);
    if (c != 'x' || digits.size() < 2 || HexDigit(digits[0]) < 0 || HexDigit(digits[1]) < 0) {
      return Expected("\\\", \\\\, \\n, \\t or \\x with two hexadecimal digits");
    }
    place_ += 2;
    return static_cast<char>(16 * HexDigit(digits[0]) + HexDigit(digits[1]));
  }

  char Peek() const { return place_ < text_.size() ? text_[place_] : '\0'; }

  void SkipSpaces() {
    while (IsSpace(Peek())) ++place_;
  }

  bool Take(char c) {
    SkipSpaces();
    if (place_ >= text_.size() || text_[place_] != c) return false;
    ++place_;
    return true;
  }

  std::size_t TakeDigits() {
    const std::size_t start = place_;
    while (IsDigit(Peek())) ++place_;
    return place_ - start;
  }

  std::string TakeWord() {
    const std::size_t start = place_;
    while (IsWordStart(Peek()) || IsDigit(Peek())) ++place_;
    return std::string(text_.substr(start, place_ - start));
  }

  tl::unexpected<Error> Expected(std::string_view what) const {
    constexpr std::size_t kShownMax = 20;
    std::string found = "the end";
    if (place_ < text_.size()) {
      std::size_t end = place_ + 1;
      const auto goes_on = [](char c) { return IsWordStart(c) || IsDigit(c) || IsInsideCharacter(c); };
      while (end < text_.size() && (end < place_ + kShownMax || IsInsideCharacter(text_[end])) && goes_on(text_[end])) {
        ++end;
      }
      found = Print(Value{std::string(text_.substr(place_, end - place_))});
    }
    return MakeError(ErrorCode::kInvalidArgument,
                     "column " + std::to_string(place_ + 1) + ": expected " + std::string(what) + ", found " + found);
  }

  tl::unexpected<Error> TooDeep() const {
    return MakeError(ErrorCode::kInvalidArgument, "column " + std::to_string(place_ + 1) + ": expected at most " +
                                                      std::to_string(kExpressionDepthMax) + " nested functions");
  }

  std::string_view text_;
  std::size_t place_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Expression> ParseExpression(std::string_view text) {
  if (text.size() > kExpressionBytesMax) {
    return MakeError(ErrorCode::kInvalidArgument, "expected at most " + std::to_string(kExpressionBytesMax) +
                                                      " bytes, got " + std::to_string(text.size()));
  }
  return Parser(text).ParseWhole();
}

}  // namespace espalier
