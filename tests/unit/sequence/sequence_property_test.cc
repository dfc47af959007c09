// Random sequences, by seed: notation, canonical form, cutting and values hold together; what is shared has equal
// values; what is related is shared.
#include <iostream>
#include <map>
#include <optional>

#include "tests/support/random_seed.h"
#include "tests/support/rounds.h"
#include "tests/unit/sequence/direct_values.h"
#include "tests/unit/sequence/sequence_samples.h"
#include "tests/unit/sequence/sequence_testing.h"

namespace espalier {
namespace {

void CheckSegmentsInvariant(const Sequence& sequence) {
  REQUIRE_FALSE(sequence.segments.empty());
  REQUIRE(sequence.segments.front().start == Step{0});
  REQUIRE(sequence.segments.back().start < sequence.horizon);
  for (std::size_t i = 1; i < sequence.segments.size(); ++i) {
    REQUIRE(sequence.segments[i - 1].start < sequence.segments[i].start);
    REQUIRE(sequence.segments[i - 1].function != sequence.segments[i].function);
  }
}

bool SameBits(const Value& a, const Value& b) {
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  if (x == nullptr || y == nullptr) return a == b;
  return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
}

std::int64_t SharedSteps(const Sequence& a, const Sequence& b) {
  const std::int64_t end = std::min(a.horizon, b.horizon).value;
  std::int64_t step = 0;
  while (step < end && FunctionAt(a, Step{step}) == FunctionAt(b, Step{step})) ++step;
  return step;
}

// An expression with its sequence.
struct Sample {
  Expression expression;
  Sequence sequence;
};

std::optional<Sample> SampleOf(const Expression& expression, ValueType type, std::int64_t horizon) {
  auto sequence = Compile(expression, type, Step{horizon});
  if (!sequence.has_value()) return std::nullopt;
  return Sample{expression, *std::move(sequence)};
}

// Cut at a random step, an expression of any family follows.
Expression Parted(Samples& samples, const Expression& expression, std::int64_t horizon) {
  return Called("Piecewise",
                {std::vector<Expression>{expression, samples.Next(1)}, WrittenAll({1 + samples.Below(horizon - 1)})});
}

// Another expression that begins like the given one, often in another form.
Expression Related(Samples& samples, const Expression& expression, std::int64_t horizon) {
  Expression parted = Parted(samples, expression, horizon);
  switch (samples.Below(5)) {
    case 0:
      return Called("Scale", {Written(1), parted});
    case 1:
      return Called("Every", {Written(1), parted});
    case 2: {
      std::vector<Expression> values;
      for (std::int64_t x = 0, count = 1 + samples.Below(horizon); x < count; ++x) {
        values.push_back({DirectValue(expression, ValueType::kFloating, x)});
      }
      return Called("Table", {values});
    }
    default:
      return parted;
  }
}

// The same around both: so that every family meets every other on a shared prefix.
std::pair<Expression, Expression> Wrapped(Samples& samples, Expression a, Expression b, std::int64_t horizon) {
  switch (samples.Below(5)) {
    case 0: {
      const Expression init = Written(samples.Number());
      const Expression period = Written(static_cast<double>(samples.Period()));
      return {Called("Warmup", {init, period, std::move(a)}), Called("Warmup", {init, period, std::move(b)})};
    }
    case 1: {
      const Expression factor = Written(samples.Number());
      return {Called("Scale", {factor, std::move(a)}), Called("Scale", {factor, std::move(b)})};
    }
    case 2: {
      const Expression k = Written(static_cast<double>(1 + samples.Below(4)));
      return {Called("Every", {k, std::move(a)}), Called("Every", {k, std::move(b)})};
    }
    case 3: {
      const Expression before = samples.Next(1);
      const auto milestone = WrittenAll({1 + samples.Below(horizon - 1)});
      return {Called("Piecewise", {std::vector<Expression>{before, std::move(a)}, milestone}),
              Called("Piecewise", {std::vector<Expression>{before, std::move(b)}, milestone})};
    }
    default:
      return {std::move(a), std::move(b)};
  }
}

// A pair that shares a proper prefix.
std::pair<Sample, Sample> NextRelatedPair(Samples& samples, std::int64_t horizon) {
  while (true) {
    const Expression expression = samples.Next(2);
    auto [a, b] = Wrapped(samples, expression, Related(samples, expression, horizon), horizon);
    Sample one = *SampleOf(a, ValueType::kFloating, horizon);
    Sample other = *SampleOf(b, ValueType::kFloating, horizon);
    const std::int64_t shared = SharedSteps(one.sequence, other.sequence);
    if (0 < shared && shared < horizon) return {std::move(one), std::move(other)};
  }
}

// At every step at which both have one function, and some others: values by segments and by formulas are equal.
void CheckValues(Samples& samples, const Sample& a, const Sample& b) {
  const ValueType type = a.sequence.type;
  for (Step step{0}; step < a.sequence.horizon; step = step + 1) {
    const bool same = FunctionAt(a.sequence, step) == FunctionAt(b.sequence, step);
    if (!same && samples.Below(8) != 0) continue;
    const Value by_a = At(a.sequence, step);
    const Value by_b = At(b.sequence, step);
    bool right = SameBits(by_a, DirectValue(a.expression, type, step.value)) &&
                 SameBits(by_b, DirectValue(b.expression, type, step.value));
    if (same) right = right && SameBits(by_a, by_b);
    if (right) continue;
    FAIL("step " << step.value << ": " << Print(by_a) << " of " << Print(a.expression) << ", " << Print(by_b) << " of "
                 << Print(b.expression) << (same ? ", shared" : ""));
  }
}

std::string RootFamily(const Expression& expression) { return std::get<Call>(expression.form).family; }

}  // namespace

TEST_CASE("random sequences keep their meaning through notation, canonical form and cutting", "[property]") {
  const std::uint64_t seed = RandomSeed("meaning");
  CAPTURE(seed);
  Samples samples(seed);
  for (int round = 0; round < Rounds(5000); ++round) {
    const Expression expression = samples.Rewritten(samples.Next());
    const std::string text = Print(expression);
    CAPTURE(round, text);
    REQUIRE(Parsed(text) == expression);

    const Step horizon{1 + samples.Below(60)};
    const auto compiled = Compile(expression, ValueType::kFloating, horizon);
    INFO((compiled.has_value() ? "" : compiled.error().message));
    REQUIRE(compiled.has_value());
    const Sequence& sequence = *compiled;
    CheckSegmentsInvariant(sequence);

    const std::string canonical = PrintCanonical(sequence);
    CAPTURE(canonical);
    const Sequence again = Compiled(canonical, horizon.value);
    REQUIRE(again == sequence);
    REQUIRE(PrintCanonical(again) == canonical);
    for (const Segment& segment : sequence.segments) {
      REQUIRE(ParseCanonicalBytes(CanonicalBytes(segment.function)).value() == segment.function);
    }

    const Step cut{1 + samples.Below(horizon.value)};
    Sequence prefix = sequence;
    prefix.horizon = cut;
    std::erase_if(prefix.segments, [cut](const Segment& segment) { return segment.start >= cut; });
    REQUIRE(Compile(expression, ValueType::kFloating, cut).value() == prefix);

    for (std::int64_t x = 0; x < horizon.value; ++x) {
      if (!SameBits(At(sequence, Step{x}), DirectValue(expression, ValueType::kFloating, x))) FAIL("at step " << x);
    }
  }
}

TEST_CASE("every step found shared has the same value, bit for bit", "[property]") {
  const std::uint64_t seed = RandomSeed("soundness");
  CAPTURE(seed);
  Samples samples(seed);
  constexpr int kPairs = Rounds(200'000);
  std::map<std::pair<std::string, std::string>, int> family_pairs;
  int proper_prefixes = 0;
  for (int round = 0; round < kPairs; ++round) {
    CAPTURE(round);
    const std::int64_t horizon = 2 + samples.Below(40);
    const bool related = samples.Below(10) < 3;
    const auto [a, b] = related ? NextRelatedPair(samples, horizon)
                                : std::pair{*SampleOf(samples.Next(2), ValueType::kFloating, horizon),
                                            *SampleOf(samples.Next(2), ValueType::kFloating, horizon)};
    CheckValues(samples, a, b);
    const std::int64_t shared = SharedSteps(a.sequence, b.sequence);
    if (0 < shared && shared < horizon) ++proper_prefixes;
    ++family_pairs[std::minmax(RootFamily(a.expression), RootFamily(b.expression))];
  }
  const std::size_t family_count = SampleFamilies().size();
  CHECK(family_pairs.size() == family_count * (family_count + 1) / 2);
  CHECK(proper_prefixes > kPairs * 28 / 100);
  std::cout << kPairs << " pairs, " << proper_prefixes << " share a proper prefix; each of " << family_pairs.size()
            << " pairs of families is hit" << std::endl;
}

TEST_CASE("shared steps have the same value for whole numbers, text and booleans too", "[property]") {
  const std::uint64_t seed = RandomSeed("types");
  CAPTURE(seed);
  Samples samples(seed);
  for (const ValueType type : {ValueType::kInteger, ValueType::kText, ValueType::kBoolean}) {
    const auto next = [&](std::int64_t horizon) {
      while (true) {
        const Expression expression = type == ValueType::kInteger ? samples.NextWhole()
                                      : type == ValueType::kText  ? samples.NextText()
                                                                  : samples.NextBoolean();
        if (auto sample = SampleOf(expression, type, horizon)) return *std::move(sample);
      }
    };
    for (int round = 0; round < Rounds(4000); ++round) {
      const std::int64_t horizon = 2 + samples.Below(40);
      const Sample a = next(horizon);
      const Sample b = next(horizon);
      CheckValues(samples, a, b);
      const Sample again = *SampleOf(Parsed(PrintCanonical(a.sequence)), type, horizon);
      REQUIRE(again.sequence == a.sequence);
    }
  }
}

// Two forms of one sequence, up to the horizon.
struct Forms {
  Expression a;
  Expression b;
};

Expression Pieces(std::vector<Expression> pieces, const std::vector<std::int64_t>& milestones) {
  return Called("Piecewise", {std::move(pieces), WrittenAll(milestones)});
}
Expression TableOf(const Expression& expression, std::int64_t value_count) {
  std::vector<Expression> values;
  for (std::int64_t x = 0; x < value_count; ++x) {
    values.push_back({DirectValue(expression, ValueType::kFloating, x)});
  }
  return Called("Table", {values});
}
Expression Count(std::int64_t count) { return {Value{count}}; }

using Rewrite = Forms (*)(Samples&, std::int64_t horizon);

Forms PlateausAsTable(Samples& samples, std::int64_t horizon) {
  static const std::vector<std::string> kFamilies = {"Constant", "Step", "MultiStep", "Table", "Every"};
  const std::string& family = kFamilies[static_cast<std::size_t>(samples.Below(5))];
  Expression a = samples.NextOf(family, 1);
  if (family == "Every") a = Called("Every", {Count(2 + samples.Below(5)), samples.Next(1)});
  return {a, TableOf(a, horizon)};
}

Forms HeldEndAsConstant(Samples& samples, std::int64_t horizon) {
  static const std::vector<std::string> kFamilies = {"LinearTo",      "Polynomial", "OneCycle", "Table",
                                                     "OneCyclePhase", "Cooldown",   "WSD"};
  const Expression a = samples.NextOf(kFamilies[static_cast<std::size_t>(samples.Below(7))]);
  constexpr std::int64_t kLongest = 40;
  const Expression held{DirectValue(a, ValueType::kFloating, kLongest)};
  return {a, Pieces({a, held}, {kLongest + samples.Below(horizon)})};
}

Forms ConstantInDisguise(Samples& samples, std::int64_t) {
  const Expression value = Written(samples.Number());
  const Expression zero = Written(0);
  const Expression period = Count(samples.Period());
  const std::vector<Forms> forms = {
      {Called("Linear", {value, zero}), value},
      {Called("LinearTo", {value, value, period}), value},
      {Called("Step", {value, period, Written(1)}), value},
      {Called("MultiStep", {value, WrittenAll(samples.Milestones(3)), Written(1)}), value},
      {Called("Exponential", {value, Written(1)}), value},
      {Called("Exponential", {zero, Written(0.9)}), zero},
      {Called("Polynomial", {value, period, Written(0.9), value}), value},
      {Called("Cosine", {value, value, period, Count(2)}), value},
      {Called("Cosine", {value, Written(7), Count(1)}), value},
      {Called("Sinusoid", {zero, period, Written(1), value}), value},
      {Called("Sinusoid", {value, Count(1), zero, zero}), value},
      {Called("CyclicLR", {value, value, period, period}), value},
      {Called("OneCycle", {zero, Count(20)}), zero},
      {Called("OneCyclePhase", {value, value, Written(0.5), Written(9)}), value},
      {Called("InverseSqrt", {zero, Written(4)}), zero},
      {Called("Cooldown", {value, value, period, samples.NextShape()}), value},
      {Called("WSD", {value, Count(9), zero}), value},
      {Called("Scale", {zero, samples.Next(2)}), zero},
      {Called("Warmup", {value, period, value}), value},
      {Called("Every", {period, value}), value},
  };
  return forms[static_cast<std::size_t>(samples.Below(static_cast<std::int64_t>(forms.size())))];
}

Forms RampsAsLinear(Samples& samples, std::int64_t) {
  const double init = samples.Number();
  const std::int64_t period = samples.Period();
  const Expression then = samples.Next(2);
  const double first = std::get<double>(DirectValue(then, ValueType::kFloating, 0));
  const double slope = (first - init) / static_cast<double>(period);
  const Expression ramp = samples.Below(2) == 0 ? Called("Linear", {Written(init), Written(slope)})
                                                : Called("LinearTo", {Written(init), Written(first), Count(period)});
  return {Called("Warmup", {Written(init), Count(period), then}), Pieces({ramp, then}, {period})};
}

Forms CycleAsRamps(Samples& samples, std::int64_t horizon) {
  const Expression low = Written(samples.Number());
  const Expression high = Written(samples.Number());
  const std::int64_t up = samples.Period();
  const std::int64_t down = samples.Period();
  std::vector<Expression> pieces;
  std::vector<std::int64_t> milestones;
  for (std::int64_t start = 0; start < horizon; start += up + down) {
    pieces.push_back(Called("LinearTo", {low, high, Count(up)}));
    pieces.push_back(Called("LinearTo", {high, low, Count(down)}));
    if (start > 0) milestones.push_back(start);
    milestones.push_back(start + up);
  }
  return {Called("CyclicLR", {low, high, Count(up), Count(down)}), Pieces(pieces, milestones)};
}

Forms PeriodByPeriod(Samples& samples, std::int64_t horizon) {
  const bool sinusoid = samples.Below(2) == 0;
  const Expression value = Written(samples.Number());
  const Expression other = Written(samples.Number());
  const std::int64_t gamma = sinusoid ? 1 : 1 + samples.Below(3);
  const auto whole = [&](std::int64_t length, std::int64_t factor) {
    return sinusoid ? Called("Sinusoid", {value, Count(length), Written(0.3), other})
                    : Called("Cosine", {value, other, Count(length), Count(factor)});
  };
  const std::int64_t period = samples.Period();
  std::vector<Expression> pieces;
  std::vector<std::int64_t> milestones;
  for (std::int64_t start = 0, length = period; start < horizon; start += length, length *= gamma) {
    if (start > 0) milestones.push_back(start);
    pieces.push_back(whole(length, 1));
  }
  return {whole(period, gamma), Pieces(pieces, milestones)};
}

Forms NestedPieces(Samples& samples, std::int64_t) {
  const std::vector<Expression> all = {samples.Next(1), samples.Next(1), samples.Next(1), samples.Next(1)};
  const std::int64_t first = samples.Period();
  const std::int64_t second = first + samples.Period();
  const std::int64_t third = samples.Period();
  return {Pieces({Pieces({all[0], all[1]}, {first}), Pieces({all[2], all[3]}, {third})}, {second}),
          Pieces(all, {first, second, second + third})};
}

Forms EqualNeighbours(Samples& samples, std::int64_t) {
  const Expression value = Written(samples.Number());
  const Expression after = samples.Next(1);
  const auto milestones = samples.Milestones(3);
  return {Pieces({value, value, Called("Table", {std::vector<Expression>{value, value}}), after}, milestones),
          Pieces({value, after}, {milestones[2]})};
}

Forms ScaledPieces(Samples& samples, std::int64_t) {
  const Expression factor = Written(samples.Number());
  const auto scaled = [&](const Expression& f) { return Called("Scale", {factor, f}); };
  const Expression first = samples.Next(1);
  const Expression second = samples.Next(1);
  const auto milestones = samples.Milestones(1);
  return {scaled(Pieces({first, second}, milestones)), Pieces({scaled(first), scaled(second)}, milestones)};
}

Forms ScaledConstant(Samples& samples, std::int64_t) {
  const double factor = samples.Number();
  const double value = samples.Number();
  return {Called("Scale", {Written(factor), Written(value)}), Written(factor * value)};
}

Forms ByOne(Samples& samples, std::int64_t) {
  const Expression f = samples.Next(2);
  return {Called(samples.Below(2) == 0 ? "Scale" : "Every", {Written(1), f}), f};
}

TEST_CASE("forms related by a rewrite share their whole equal prefix", "[property]") {
  const std::uint64_t seed = RandomSeed("completeness");
  CAPTURE(seed);
  Samples samples(seed);
  const std::vector<std::pair<const char*, Rewrite>> rewrites = {
      {"plateaus as Constants", PlateausAsTable},
      {"held ends as Constants", HeldEndAsConstant},
      {"what cannot change", ConstantInDisguise},
      {"ramps", RampsAsLinear},
      {"cycles as ramps", CycleAsRamps},
      {"period by period", PeriodByPeriod},
      {"pieces inside pieces", NestedPieces},
      {"equal neighbours", EqualNeighbours},
      {"factors over pieces", ScaledPieces},
      {"a scaled Constant", ScaledConstant},
      {"by one", ByOne},
  };
  for (const auto& [name, rewrite] : rewrites) {
    for (int round = 0; round < Rounds(1000); ++round) {
      const std::int64_t horizon = 2 + samples.Below(90);
      const auto [one, other] = rewrite(samples, horizon);
      const std::string a = Print(one);
      const std::string b = Print(other);
      CAPTURE(name, a, b, horizon);
      const Sequence sequence = SampleOf(one, ValueType::kFloating, horizon).value().sequence;
      const Sequence rewritten = SampleOf(other, ValueType::kFloating, horizon).value().sequence;
      REQUIRE(sequence == rewritten);
      REQUIRE(DigestOf(sequence) == DigestOf(rewritten));
      // What follows takes nothing from what precedes it.
      const std::int64_t cut = 1 + samples.Below(horizon - 1);
      const Expression parted = Pieces({other, samples.Next(1)}, {cut});
      REQUIRE(SharedSteps(sequence, SampleOf(parted, ValueType::kFloating, horizon).value().sequence) >= cut);
    }
  }
}

TEST_CASE("values are the same bits on every machine and compiler, in every release", "[golden]") {
  const std::vector<const char*> texts = {
      "Linear(0.1, -0.00037)",
      "LinearTo(0.01, 0.3, 777)",
      "Exponential(0.1, 0.95)",
      "Exponential(0.1, 0.9999)",
      "Exponential(1e-300, 1.37)",
      "MultiStep(0.1, [40, 60, 110, 500, 900], 0.3)",
      "Cosine(0.1, 0, 75)",
      "Cosine(0.1, 0.003, 13, gamma=3)",
      "Warmup(0.013, 37, Cosine(0.1, 0.0001, 1001))",
      "Piecewise([Exponential(0.1, 0.97), Cosine(0.07, -0.3, 33), Table([1, 0.3, 0.1])], [100, 177])",
  };
  std::string bytes;
  for (const char* text : texts) {
    const Sequence sequence = Compiled(text, 1001);
    for (std::int64_t step = 0; step < 1000; step += 5) {
      const auto bits = std::bit_cast<std::uint64_t>(FloatingAt(sequence, step));
      for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift);
    }
  }
  REQUIRE(bytes.size() == std::size_t{2000} * 8);
  // All 2,000 agree with a computation in 400 bits, rounded where the formulas round.
  CHECK(ToHex(DigestOf(bytes)) == "3a69f9e18a2237a868a31da916bec79d");
  // A few of them, to see what moved if the digest did.
  CHECK(FloatingAt(Compiled("Exponential(0.1, 0.95)", 1001), 10) == 0x1.ea7c3ca96526cp-5);
  CHECK(FloatingAt(Compiled("Exponential(0.1, 0.9999)", 1001), 1000) == 0x1.729e9b09e2f03p-4);
  CHECK(FloatingAt(Compiled("Cosine(0.1, 0, 75)", 1001), 37) == 0x1.a22d9267326dfp-5);
  CHECK(FloatingAt(Compiled("LinearTo(0.01, 0.3, 777)", 1001), 500) == 0x1.92aafba345f78p-3);
  CHECK(FloatingAt(Compiled("Warmup(0.013, 37, Cosine(0.1, 0.0001, 1001))", 1001), 1000) == 0x1.dce5ba8cec100p-12);
}

}  // namespace espalier
