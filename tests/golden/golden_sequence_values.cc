// Golden values: 100,000 and more, over all families, that must be the same bits on every machine, in every build and
// release. As digests by family, with a few values to see what moved if a digest did.
//   golden_sequence_values               prints the digests and the few
//   golden_sequence_values FAMILY        prints all values of a family
//   golden_sequence_values --check FILE  compares the first with a file, prints where they part
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/check.h"
#include "searchplan/sequence/sequence.h"

namespace espalier {
namespace {

struct GoldenFamily {
  const char* name;
  std::vector<const char*> texts;
};

const std::vector<GoldenFamily>& GoldenFamilies() {
  static const std::vector<GoldenFamily> families = {
      {"Constant", {"0.1", "-12345.678", "3"}},
      {"Linear", {"Linear(0.1, -0.00037)", "Linear(-1, 1e-09)", "Linear(3.3, 7.7)"}},
      {"LinearTo", {"LinearTo(0.01, 0.3, 777)", "LinearTo(1, 0, 999983)", "LinearTo(-0.3, 0.7, 123456)"}},
      {"Step", {"Step(0.1, 30, 0.97)", "Step(7, 1000, 1.3)", "Step(0.1, 7, 0.9999)"}},
      {"MultiStep",
       {"MultiStep(0.1, [40, 60, 110, 500, 900], 0.3)", "MultiStep(0.1, [1, 2, 3, 4, 5, 100000], 0.1)",
        "MultiStep(-0.7, [333, 666, 999, 333333, 666666], 1.7)"}},
      {"Exponential", {"Exponential(0.1, 0.95)", "Exponential(0.1, 0.999999)", "Exponential(1e-300, 1.0005)"}},
      {"Polynomial",
       {"Polynomial(0.1, 999983, 2.5, 0.003)", "Polynomial(0.3, 1111, 0.9)", "Polynomial(0.1, 1000003, 3.3, 0.7)"}},
      {"Cosine", {"Cosine(0.1, 0, 75)", "Cosine(0.1, 0.003, 13, gamma=3)", "Cosine(-0.3, 0.7, 999983)"}},
      {"Sinusoid", {"Sinusoid(0.1, 97)", "Sinusoid(3.3, 999983, 1.2, 0.3)", "Sinusoid(0.7, 41, -100000.7, -5)"}},
      {"CyclicLR", {"CyclicLR(0.001, 0.1, 20, 13)", "CyclicLR(0.3, -0.7, 1, 999)", "CyclicLR(0, 0.1, 333, 777)"}},
      {"OneCycle",
       {"OneCycle(0.1, 1000003)", "OneCycle(0.1, 1777, 0.37, \"linear\", three_phase=true)",
        "OneCycle(0.7, 500009, 0.23, \"cos\", 3.3, 77, true)"}},
      {"InverseSqrt", {"InverseSqrt(0.1)", "InverseSqrt(0.1, 4000)", "InverseSqrt(-3.3, 0.7)"}},
      {"Cooldown",
       {"Cooldown(0.1, 0.003, 999983, \"sqrt\")", "Cooldown(-0.3, 0.7, 1111, \"square\")",
        "Cooldown(3.3, 0.1, 777777, \"mirror_cosine\")"}},
      {"WSD",
       {"WSD(0.1, 999983, 99999, 1001)", "WSD(0.3, 1500, 700, 300, 0.01, 0.003, \"cosine\")",
        "Scale(0.7, WSD(0.1, 600000, 599000, shape=\"mirror_cosine\"))"}},
      {"Warmup",
       {"Warmup(0.013, 37, Cosine(0.1, 0.0001, 1001))", "Warmup(0, 500, InverseSqrt(0.1, 500))",
        "Warmup(0.1, 7, Warmup(0.3, 700, Exponential(0.05, 0.9999)))"}},
      {"Piecewise",
       {"Piecewise([Exponential(0.1, 0.97), Cosine(0.07, -0.3, 33), Table([1, 0.3, 0.1])], [100, 177])",
        "Piecewise([OneCycle(0.1, 999), Polynomial(0.05, 400000, 0.3), Sinusoid(0.1, 30)], [777, 300000])",
        "Piecewise([Warmup(0, 9, 0.1), Step(0.1, 100, 0.9), Linear(0.03, -1e-8)], [500, 50000])"}},
      {"Table", {"Table([0.1, 0.2, 0.15])", "Table([1, -2, 3, -4])", "Table([1e-310, 5e-324, 1e308])"}},
      {"Scale",
       {"Scale(0.3, Cosine(0.1, 0, 75))", "Scale(3.3, Scale(0.7, Warmup(0, 900, Exponential(0.1, 0.99999))))",
        "Scale(-0.1, OneCycle(0.1, 777777))"}},
      {"Every",
       {"Every(10, Exponential(0.1, 0.9997))", "Every(7, Scale(0.1, Sinusoid(1, 170)))",
        "Every(100, Polynomial(0.1, 9000, 1.7))"}},
  };
  return families;
}

constexpr std::int64_t kNearSteps = 1000;
constexpr std::int64_t kFarSteps = 1000;
constexpr std::int64_t kFarDistance = 997;
constexpr std::int64_t kValueCount = kNearSteps + kFarSteps;  // of each expression

Step StepOf(std::int64_t index) {
  return Step{index < kNearSteps ? index : kNearSteps + (index - kNearSteps) * kFarDistance};
}

Sequence Compiled(const char* text) {
  const auto expression = ParseExpression(text);
  ESPALIER_CHECK(expression.has_value()) << expression.error().message;
  const auto sequence = Compile(*expression, ValueType::kFloating, StepOf(kValueCount));
  ESPALIER_CHECK(sequence.has_value()) << sequence.error().message;
  return *sequence;
}

// One line a value, in the shortest form that reads back to the same bits.
std::string ValueLines(const Sequence& sequence) {
  std::string lines;
  for (std::int64_t i = 0; i < kValueCount; ++i) lines += Print(At(sequence, StepOf(i))) + "\n";
  return lines;
}

std::string Summary() {
  std::ostringstream out;
  std::size_t value_count = 0;
  for (const GoldenFamily& family : GoldenFamilies()) {
    std::string all;
    std::ostringstream few;
    for (const char* text : family.texts) {
      const Sequence sequence = Compiled(text);
      all += ValueLines(sequence);
      few << "  " << text << ":";
      for (const std::int64_t i : {1L, 10L, 99L, 777L, kNearSteps + 1, kNearSteps + 500, kValueCount - 1}) {
        few << ' ' << StepOf(i).value << " -> " << Print(At(sequence, StepOf(i))) << ';';
      }
      few << '\n';
      value_count += kValueCount;
    }
    out << family.name << ' ' << ToHex(DigestOf(all)) << '\n' << few.str();
  }
  out << value_count << " values\n";
  return out.str();
}

int PrintFamily(const std::string& name) {
  for (const GoldenFamily& family : GoldenFamilies()) {
    if (family.name != name) continue;
    for (const char* text : family.texts) {
      const Sequence sequence = Compiled(text);
      for (std::int64_t i = 0; i < kValueCount; ++i) {
        std::cout << text << ' ' << StepOf(i).value << " -> " << Print(At(sequence, StepOf(i))) << '\n';
      }
    }
    return 0;
  }
  std::cerr << "no golden values of " << name << '\n';
  return 2;
}

int CheckAgainst(const std::string& path) {
  std::ifstream file(path);
  if (!file.is_open()) {
    std::cerr << "cannot read " << path << '\n';
    return 2;
  }
  std::istringstream computed(Summary());
  int differences = 0;
  std::string expected_line;
  std::string line;
  while (true) {
    const bool more_expected = static_cast<bool>(std::getline(file, expected_line));
    const bool more = static_cast<bool>(std::getline(computed, line));
    if (!more_expected && !more) break;
    if (more_expected && more && line == expected_line) continue;
    std::cout << "expected " << (more_expected ? expected_line : "the end") << "\ngot      "
              << (more ? line : "the end") << '\n';
    if (++differences == 20) break;
  }
  return differences == 0 ? 0 : 1;
}

}  // namespace
}  // namespace espalier

int main(int argument_count, char** arguments) {
  if (argument_count == 3 && std::string(arguments[1]) == "--check") return espalier::CheckAgainst(arguments[2]);
  if (argument_count == 2) return espalier::PrintFamily(arguments[1]);
  std::cout << espalier::Summary();
  return 0;
}
