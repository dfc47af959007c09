// The notation and values: what is read, what is printed, what is refused and where.
#include <limits>

#include "searchplan/sequence/expression.h"
#include "tests/unit/sequence/sequence_testing.h"

namespace espalier {

TEST_CASE("what is printed is what was written, with one space after commas") {
  for (const auto* text : {"0.1", "32", "-5", "1.0", "1e-05", "true", "false", "\"sgd\"",
                           "\"a \\\"b\\\" \\\\ \\n\\t\\x01 \xc3\xa9\"", "F()", "Cosine(0.1, 0, 75)",
                           "MultiStep(0.1, [40, 60], gamma=0.1)", "Table([])", "F(a=[\"x\", true, G(b=1)])"}) {
    CHECK(Print(Parsed(text)) == text);
  }
  CHECK(Print(Parsed(" MultiStep ( 0.1 ,[40,60 ], gamma = 0.1 ) ")) == "MultiStep(0.1, [40, 60], gamma=0.1)");
}

TEST_CASE("digits alone are an integer, a point or an exponent makes a number floating") {
  CHECK((Parsed("32") == Expression{Value{std::int64_t{32}}}));
  CHECK(Parsed("-9223372036854775808") == Expression{Value{std::numeric_limits<std::int64_t>::min()}});
  for (const auto* text : {"32.0", "32.", "3.2e1", "3.2E+1", "320e-1", ".32e2"}) {
    CHECK(Parsed(text) == Expression{Value{32.0}});
  }
}

TEST_CASE("floating numbers are printed in the shortest form that reads back as floating") {
  for (const double value :
       {0.1, 1.0, 100000.0, 1e22, 5e-324, 1.7976931348623157e308, -2.5, 0.010000000000000002, 0.0}) {
    const Expression expression{Value{value}};
    CAPTURE(Print(expression));
    CHECK(Parsed(Print(expression)) == expression);
  }
}

TEST_CASE("what does not follow the grammar is refused with its column") {
  const auto message = [](std::string_view text) { return ParseExpression(text).error().message; };
  CHECK(message("Constant(1") == "column 11: expected ',' or ')', found the end");
  CHECK(message("Table([1, 2)") == "column 12: expected ',' or ']', found \")\"");
  CHECK(message("1 2") == "column 3: expected the end, found \"2\"");
  CHECK(message("1e400") == "column 1: expected a number that floating point can hold, found \"1e400\"");
  CHECK(message("99999999999999999999") ==
        "column 1: expected a whole number of at most 64 bits, found \"99999999999999999999\"");
  CHECK(message("-") == "column 2: expected a digit, found the end");
  CHECK(message("1e") == "column 3: expected a digit of the exponent, found the end");
  CHECK(message("\"abc") == "column 5: expected the text's closing quote, found the end");
  CHECK(message("\"\\q\"") ==
        "column 3: expected \\\", \\\\, \\n, \\t or \\x with two hexadecimal digits, found \"q\"");
  CHECK(message("F(\"a\\x00b\")").starts_with("column 3: expected a text in UTF-8 without zero bytes"));
  CHECK(message("\"\\xff\"").starts_with("column 1: expected a text in UTF-8 without zero bytes"));
  CHECK(message("\"\xff\"").starts_with("column 1: expected a text in UTF-8 without zero bytes"));
  CHECK(message("") ==
        "column 1: expected a number, \"text\", true, false or a function such as Cosine(...), found the end");
  for (const auto* bare : {"sgd", "nan", "inf", "Cosine", "F(1, b=nan)"}) {
    CHECK(message(bare).find("expected a finite number, text in double quotes, true, false or a function") !=
          std::string::npos);
  }
}

TEST_CASE("messages show the beginning of long text, never half a character") {
  CHECK(ParseExpression("\xc3\xa9").error().message.ends_with("found \"\xc3\xa9\""));
  std::string umlauts = "x";
  for (int i = 0; i < 1000; ++i) umlauts += "\xc3\xbc";
  const std::string message = Convert(Value{umlauts}, ValueType::kFloating).error().message;
  CHECK(message.size() < 100);
  CHECK(message.ends_with("\xc3\xbc..."));
  CHECK(Refused(std::string(100'000, 'F') + "(1)").message.size() < 200);
}

TEST_CASE("length is limited, so that what is written can be stored") {
  const auto table = [](std::size_t bytes) { return "Table([" + std::string(bytes - 9, '1') + "])"; };
  CHECK(Refused(table(kExpressionBytesMax + 1)).message == "expected at most 1048576 bytes, got 1048577");
  CHECK(Refused(table(kExpressionBytesMax)).message.find("bytes") == std::string::npos);
}

TEST_CASE("depth is limited, so that no text can exhaust the stack") {
  std::string text = "1";
  for (int i = 0; i < 100'000; ++i) text = "F(" + text;
  CHECK(ParseExpression(text).error().message.find("at most 64 nested functions") != std::string::npos);
  Expression nested{Value{1.0}};
  for (int i = 0; i < 100; ++i)
    nested = {Call{"Warmup", {{"", Expression{Value{1.0}}}, {"", Expression{Value{1.0}}}, {"", nested}}}};
  CHECK(Compile(nested, ValueType::kFloating, Step{5}).error().message.find("at most 64 nested functions") !=
        std::string::npos);
}

TEST_CASE("values convert only where they stay the same") {
  CHECK(Convert(Value{std::int64_t{1}}, ValueType::kFloating).value() == Value{1.0});
  CHECK(Print(Convert(Value{-0.0}, ValueType::kFloating).value()) == "0.0");
  CHECK(Convert(Value{32.0}, ValueType::kInteger).value() == Value{std::int64_t{32}});
  CHECK(Convert(Value{-0x1p63}, ValueType::kInteger).value() == Value{std::numeric_limits<std::int64_t>::min()});
  CHECK(Convert(Value{12.5}, ValueType::kInteger).error().message == "expected a whole number, got 12.5");
  CHECK(Convert(Value{0x1p63}, ValueType::kInteger).error().message ==
        "expected a whole number of at most 64 bits, got 9223372036854775808.0");
  CHECK_FALSE(Convert(Value{std::numeric_limits<std::int64_t>::max()}, ValueType::kFloating).has_value());
  CHECK(Convert(Value{std::numeric_limits<double>::quiet_NaN()}, ValueType::kFloating).error().message ==
        "expected a finite number, got nan");
  CHECK_FALSE(Convert(Value{true}, ValueType::kInteger).has_value());
  CHECK_FALSE(Convert(Value{std::string("1")}, ValueType::kFloating).has_value());
  CHECK(Convert(Value{std::string("a")}, ValueType::kText).value() == Value{std::string("a")});
}

TEST_CASE("types have names that read back") {
  for (const auto type : {ValueType::kBoolean, ValueType::kInteger, ValueType::kFloating, ValueType::kText}) {
    CHECK(ParseValueType(Name(type)).value() == type);
  }
  CHECK(ParseValueType("float").error().message == "expected boolean, integer, floating or text, got float");
}

}  // namespace espalier
