#include "client/cli/sequence_svg.h"

#include <catch2/catch.hpp>

namespace espalier {
namespace {

std::string Svg(const std::string& text, std::int64_t from, std::int64_t to, ValueType type = ValueType::kFloating) {
  const Sequence sequence = Compile(*ParseExpression(text), type, Step{to}).value();
  return SequenceSvg(sequence, Step{from}, Step{to}, text);
}

std::size_t CountIn(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("the picture of a sequence parts its segments and shows each value of a short one") {
  const std::string svg = Svg("Piecewise([0.1, Cosine(0.1, 0, 8), 0.2], [10, 26])", 0, 40);
  CHECK(CountIn(svg, "stroke-dasharray") == 3);
  CHECK(CountIn(svg, "<circle") == 40);
  CHECK(CountIn(svg, "</svg>") == 1);
  CHECK(CountIn(svg, "nan") + CountIn(svg, "inf") == 0);
}

TEST_CASE("a constant, text and very many steps can be drawn") {
  CHECK(CountIn(Svg("0", 0, 5), "nan") == 0);
  CHECK(CountIn(Svg("1e308", 0, 5), "</svg>") == 1);
  CHECK(CountIn(Svg("Linear(1, 1e-16)", 0, 5), "</svg>") == 1);
  const std::string text = Svg("Table([\"a<b\", \"c\", \"a<b\"])", 0, 9, ValueType::kText);
  CHECK(CountIn(text, ">&quot;a&lt;b&quot;<") == 1);
  CHECK(CountIn(text, "a<b") == 0);
  CHECK(Svg("Exponential(0.1, 0.99999)", 0, 1'000'000).size() < 100'000);
  CHECK(Svg("Cosine(0.1, 0, 2)", 0, 1'000'000).size() < 100'000);
  CHECK(CountIn(Svg("Linear(0, 1)", 1000, 1010), ">1005<") > 0);
}

}  // namespace espalier
