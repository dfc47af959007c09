// Canonical bytes and digests (golden), joint segments and trials.
#include "searchplan/sequence/configuration.h"

#include "tests/unit/sequence/sequence_testing.h"

namespace espalier {
namespace {

std::string Hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

const std::vector<std::pair<Function, std::string>>& GoldenBytes() {
  static const std::vector<std::pair<Function, std::string>> golden = {
      {{Constant{true}, Step{0}}, "01010101"},
      {{Constant{std::int64_t{-2}}, Step{0}}, "010102fffffffffffffffe"},
      {{Constant{0.1}, Step{0}}, "0101033fb999999999999a"},
      {{Constant{std::string("sgd")}, Step{0}}, "0101040000000000000003736764"},
      {{Linear{0.5, -2}, Step{3}}, "01023fe0000000000000c0000000000000000000000000000003"},
      {{Exponential{0.1, 0.5}, Step{40}}, "01033fb999999999999a3fe00000000000000000000000000028"},
      {{CosinePeriod{1, 0, 75}, kStepMax}, "01043ff00000000000000000000000000000000000000000004b0020000000000000"},
      {{Polynomial{1, 75, 0.5, -1}, Step{1}},
       "01053ff0000000000000000000000000004b3fe0000000000000bff00000000000000000000000000001"},
      {{InverseSqrt{1, 0.5}, Step{1}}, "01063ff00000000000003fe00000000000000000000000000001"},
      {{SinusoidPeriod{1, 75, 0.5, -1}, Step{1}},
       "01073ff0000000000000000000000000004b3fe0000000000000bff00000000000000000000000000001"},
      {{OneCyclePhase{1, 2, 0.5, 9, Anneal::kLinear}, Step{1}},
       "01083ff000000000000040000000000000003fe00000000000004022000000000000010000000000000001"},
      {{OneCyclePhase{1, 2, 0, 9, Anneal::kCosine}, Step{1}},
       "01083ff0000000000000400000000000000000000000000000004022000000000000000000000000000001"},
      {{Linear{0.5, -2}, Step{3}, {2, 0.5}},
       "01093fe0000000000000094000000000000000023fe0000000000000c0000000000000000000000000000003"},
      {{CooldownPeriod{1, -1, 75, CooldownShape::kSqrt}, Step{1}},
       "010a3ff0000000000000bff0000000000000000000000000004b000000000000000001"},
      {{CooldownPeriod{1, -1, 75, CooldownShape::kMirrorCosine}, Step{1}},
       "010a3ff0000000000000bff0000000000000000000000000004b020000000000000001"},
  };
  return golden;
}

Schema SmallSchema() {
  return {{{"bs", ValueType::kInteger, std::int64_t{32}, false},
           {"depth", ValueType::kInteger, std::int64_t{20}, true},
           {"lr", ValueType::kFloating, 0.1, false},
           {"momentum", ValueType::kFloating, 0.9, false},
           {"optimizer", ValueType::kText, std::string("sgd"), false}}};
}

}  // namespace

TEST_CASE("canonical bytes are the same in every release, and read back") {
  for (const auto& [function, hex] : GoldenBytes()) {
    CAPTURE(Print(function));
    CHECK(Hex(CanonicalBytes(function)) == hex);
    CHECK(ParseCanonicalBytes(CanonicalBytes(function)).value() == function);
  }
}

TEST_CASE("bytes that nothing writes are refused, never misread") {
  for (const auto& [function, hex] : GoldenBytes()) {
    const std::string bytes = CanonicalBytes(function);
    for (std::size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(ParseCanonicalBytes(bytes.substr(0, size)));
    CHECK_FALSE(ParseCanonicalBytes(bytes + '\0'));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (int value = 0; value < 256; ++value) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(value);
        const auto parsed = ParseCanonicalBytes(changed);
        if (parsed.has_value() && CanonicalBytes(*parsed) != changed) FAIL("misread " << Hex(changed));
      }
    }
  }
  CHECK_FALSE(ParseCanonicalBytes(CanonicalBytes(Function{Constant{-0.0}, Step{0}})));
  CHECK_FALSE(ParseCanonicalBytes(CanonicalBytes(Function{Exponential{1, -1}, Step{0}})));
  CHECK_FALSE(ParseCanonicalBytes(CanonicalBytes(Function{CosinePeriod{1, 0, 0}, Step{0}})));
  CHECK_FALSE(ParseCanonicalBytes(CanonicalBytes(Function{Linear{1, 0}, Step{-1}})));
  CHECK_FALSE(ParseCanonicalBytes(CanonicalBytes(Function{Constant{1.0}, Step{0}, {2}})));
  CHECK_FALSE(ParseCanonicalBytes(CanonicalBytes(Function{Linear{1, 1}, Step{0}, std::vector<double>(65, 2)})));
  CHECK_FALSE(ParseCanonicalBytes(CanonicalBytes(Function{Polynomial{1, 5, 0, 0}, Step{0}})));
  CHECK_FALSE(ParseCanonicalBytes(CanonicalBytes(Function{InverseSqrt{1, -1}, Step{0}})));
  CHECK_FALSE(ParseCanonicalBytes(CanonicalBytes(Function{SinusoidPeriod{1, 5, 1e17, 0}, Step{0}})));
  CHECK_FALSE(ParseCanonicalBytes(CanonicalBytes(Function{OneCyclePhase{1, 2, 3, 3}, Step{0}})));
  CHECK_FALSE(ParseCanonicalBytes(CanonicalBytes(Function{OneCyclePhase{1, 2, 5.25, 5.5}, Step{0}})));
  CHECK_FALSE(ParseCanonicalBytes(CanonicalBytes(Function{CooldownPeriod{1, 0, 0}, Step{0}})));
}

TEST_CASE("digests of sequences and configurations are the same in every release") {
  CHECK(ToHex(DigestOf(Compiled("Warmup(0.01, 5, Cosine(0.1, 0, 75))", 160))) == "b14a86a58b47926f5df91e6b611ed3a9");
  Configuration configuration;
  for (std::size_t i = 0; i < 7; ++i) configuration.functions.push_back(GoldenBytes()[i].first);
  CHECK(ToHex(DigestOf(configuration)) == "45fed64f08af165b06c376b32e8f9105");
  for (std::size_t i = 7; i < 13; ++i) configuration.functions.push_back(GoldenBytes()[i].first);
  CHECK(ToHex(DigestOf(configuration)) == "86827b60ad711360d46e1b6de5c7dde8");
  for (std::size_t i = 13; i < GoldenBytes().size(); ++i) configuration.functions.push_back(GoldenBytes()[i].first);
  CHECK(ToHex(DigestOf(configuration)) == "68ffaab0417e09f0f376f66d763a99e5");
  CHECK(ParseConfiguration(CanonicalBytes(configuration)).value() == configuration);
  CHECK(ParseConfiguration(CanonicalBytes(Configuration{})).value() == Configuration{});
  CHECK_FALSE(ParseConfiguration(CanonicalBytes(configuration) + "x").has_value());
  CHECK_FALSE(ParseConfiguration("").has_value());
}

TEST_CASE("a sequence's digest tells type and values apart") {
  CHECK(DigestOf(Compiled("1", 10)) != DigestOf(Compiled("1", 10, ValueType::kInteger)));
  CHECK(DigestOf(Compiled("0.1", 10)) != DigestOf(Compiled("0.2", 10)));
  CHECK(DigestOf(Compiled("Linear(1, 0)", 10)) == DigestOf(Compiled("1", 10)));
}

TEST_CASE("joint segments begin where any sequence changes") {
  const std::vector<Sequence> sequences = {Compiled("MultiStep(1, [4, 8], 0.5)", 20), Compiled("Cosine(1, 0, 8)", 20),
                                           Compiled("3", 20)};
  const auto joint = JointSegments(sequences, Step{16}).value();
  REQUIRE(joint.size() == 3);
  CHECK(joint[0].start == Step{0});
  CHECK(joint[1].start == Step{4});
  CHECK(joint[2].start == Step{8});
  for (const JointSegment& segment : joint) {
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      CHECK(segment.configuration.functions[i] == FunctionAt(sequences[i], segment.start));
    }
  }
  CHECK(JointSegments({}, Step{5}).value() == std::vector<JointSegment>{{Step{0}, {}}});
}

TEST_CASE("more than a million joint segments are refused") {
  const std::int64_t horizon = 1'500'000;
  const std::vector<Sequence> sequences = {Compiled("Cosine(1, 0, 2)", horizon), Compiled("Cosine(1, 0, 3)", horizon)};
  JointSegments(sequences, Step{1'000'000}).value();
  const auto refused =
      JointSegments({sequences[0], Compiled("Piecewise([1, Cosine(1, 0, 2)], [1])", horizon)}, Step{horizon});
  CHECK(refused.error().code == ErrorCode::kResourceExhausted);
}

TEST_CASE("a trial is what it names, the rest at their defaults") {
  const Schema schema = SmallSchema();
  const auto trial =
      ResolveTrial(schema, {{"lr", Parsed("MultiStep(0.1, [5], 0.1)")}, {"bs", Parsed("64.0")}}, Step{9});
  REQUIRE(trial.has_value());
  REQUIRE(trial->size() == 2);
  const auto& functions = trial->back().configuration.functions;
  CHECK(functions[0] == Function{Constant{std::int64_t{64}}, Step{0}});
  CHECK(functions[1] == Function{Constant{std::int64_t{20}}, Step{0}});
  CHECK(functions[2] == Function{Constant{0.010000000000000002}, Step{0}});
  CHECK(functions[4] == Function{Constant{std::string("sgd")}, Step{0}});
  CHECK(trial->front().configuration == ResolveTrial(schema, {{"bs", Parsed("64")}}, Step{3}).value()[0].configuration);
}

TEST_CASE("under a schema that takes any, a trial also names others, and neutral ones are left out") {
  const Schema schema{.hyper_parameters = SmallSchema().hyper_parameters, .takes_any = true};
  const ValueTypes types = {{"warp", ValueType::kFloating}, {"aim", ValueType::kText}, {"unused", ValueType::kInteger}};
  const auto trial = ResolveTrial(
      schema, {{"warp", Parsed("Piecewise([0, Linear(1, 0.5)], [5])")}, {"aim", Parsed("\"up\"")}}, Step{9}, types);
  REQUIRE(trial.has_value());
  REQUIRE(trial->size() == 2);
  const Configuration& before = trial->front().configuration;
  const Configuration& after = trial->back().configuration;
  CHECK(before.undeclared == std::vector<std::string>{"aim"});
  CHECK(after.undeclared == std::vector<std::string>{"aim", "warp"});
  CHECK(after.DeclaredCount() == schema.hyper_parameters.size());
  CHECK(*after.FindUndeclared("aim") == Function{Constant{std::string("up")}, Step{0}});
  CHECK(*after.FindUndeclared("warp") == Function{Linear{1, 0.5}, Step{5}});
  CHECK(after.FindUndeclared("unused") == nullptr);
  // Whatever is neutral is the same as what nobody named, of whatever type.
  const auto neutral =
      ResolveTrial(schema, {{"warp", Parsed("0")}, {"unused", Parsed("0")}, {"aim", Parsed("\"\"")}}, Step{9}, types);
  CHECK(neutral->front().configuration == ResolveTrial(schema, {}, Step{9})->front().configuration);

  for (const Configuration& configuration : {before, after}) {
    const std::string bytes = CanonicalBytes(configuration);
    CHECK(ParseConfiguration(bytes).value() == configuration);
    const std::string plain = CanonicalBytes(Configuration{configuration.functions});
    CHECK(bytes.starts_with(plain));  // stored before there were undeclared ones: the same bytes as ever
    for (std::size_t size = plain.size() + 1; size < bytes.size(); ++size) {
      CHECK_FALSE(ParseConfiguration(bytes.substr(0, size)).has_value());
    }
  }
  Configuration unsorted = after;
  std::swap(unsorted.undeclared[0], unsorted.undeclared[1]);
  CHECK_FALSE(ParseConfiguration(CanonicalBytes(unsorted)).has_value());
  CHECK_FALSE(ParseConfiguration(CanonicalBytes(Configuration{{}, {"name"}})).has_value());
}

TEST_CASE("an undeclared hyper-parameter needs a type, and a schema that takes it") {
  const Schema open{.hyper_parameters = {}, .takes_any = true};
  CHECK(ResolveTrial(open, {{"warp", Parsed("1")}}, Step{9}).error().field == "warp");
  CHECK(ResolveTrial(open, {{"warp", Parsed("1.5")}}, Step{9}, {{"warp", ValueType::kInteger}}).error().field ==
        "warp");
  CHECK(ResolveTrial(SmallSchema(), {{"warp", Parsed("1")}}, Step{9}).error().field == "warp");
}

TEST_CASE("a trial's error names the hyper-parameter") {
  const Schema schema = SmallSchema();
  const auto error = [&](const std::string& name, std::string_view text) {
    return ResolveTrial(schema, {{name, Parsed(text)}}, Step{9}).error();
  };
  CHECK(error("momentun", "0.9") == Error{ErrorCode::kInvalidArgument,
                                          "the trainer has no hyper-parameter momentun, did you mean momentum?",
                                          "momentun"});
  CHECK(error("bs", "12.5") ==
        Error{ErrorCode::kInvalidArgument, "at step 0: expected a whole number, got 12.5", "bs"});
  CHECK(error("depth", "Table([1, 2])").field == "depth");
  CHECK(error("optimizer", "3").message == "expected text in double quotes, got 3");
  CHECK(ResolveTrial({}, {{"lr", Parsed("1")}}, Step{9}).error().message ==
        "the trainer has no hyper-parameters, got lr");
}

TEST_CASE("a packed configuration is the configuration, and equal to another one exactly if that is") {
  std::vector<Configuration> configurations(1);  // one of no functions
  for (const auto& [function, hex] : GoldenBytes()) configurations.push_back({{function, {Constant{0.1}, Step{0}}}});
  for (const Configuration& a : configurations) {
    const PackedConfiguration packed(a);
    CHECK(packed.Unpack() == a);
    CHECK(packed.bytes() == CanonicalBytes(a));
    CHECK(PackedConfiguration::Parse(packed.bytes()).value() == packed);
    for (const Configuration& b : configurations) CHECK((packed == PackedConfiguration(b)) == (a == b));
  }
  CHECK(PackedConfiguration() == PackedConfiguration(Configuration{}));
  CHECK_FALSE(PackedConfiguration::Parse("nonsense").has_value());
}

}  // namespace espalier
