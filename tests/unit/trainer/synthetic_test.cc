#include "worker/trainer/models/synthetic.h"

#include <catch2/catch.hpp>

namespace espalier::trainer {
namespace {

using Steps = std::vector<HyperParameterValues>;  // what Setup is given before each step

std::unique_ptr<Trainer> Begun(std::int64_t state_bytes = 100) {
  auto trainer = Synthetic().make({});
  trainer->Init({{"state_bytes", state_bytes}});
  trainer->Setup({{"curve_limit", 0.9}, {"curve_noise", 0.1}, {"curve_rate", 0.2}, {"step_seconds", 0.0}});
  return trainer;
}

struct Result {
  std::string state_sha256;
  Metrics evaluation;
  friend bool operator==(const Result&, const Result&) = default;
};

Result ResultOf(Trainer& trainer) { return {Sha256Of(trainer.Save()), trainer.Evaluate()}; }

Result Trained(const Steps& steps) {
  const auto trainer = Begun();
  for (const HyperParameterValues& values : steps) {
    trainer->Setup(values);
    trainer->Train();
  }
  return ResultOf(*trainer);
}

std::size_t BytesOf(const State& state) {
  std::size_t bytes = 0;
  for (const auto& [name, array] : state) bytes += array.bytes.size();
  return bytes;
}

const HyperParameterValue kOne = std::int64_t{1};

}  // namespace

TEST_CASE("synthetic: a training in pieces is the same as a straight one") {
  const Steps steps = {{{"lr", 0.1}, {"bs", kOne}}, {}, {{"lr", 0.01}}, {{"name", std::string("x")}}, {{"lr", 0.0}}};
  HyperParameterValues in_force;
  State state = Begun()->Save();
  std::unique_ptr<Trainer> trainer;
  for (const HyperParameterValues& values : steps) {
    trainer = Begun();
    trainer->Setup(in_force);
    trainer->Load(state);
    for (const auto& [name, value] : values) in_force[name] = value;
    trainer->Setup(values);
    trainer->Train();
    CHECK(trainer->Evaluate() == trainer->Evaluate());
    state = trainer->Save();
  }
  CHECK(ResultOf(*trainer) == Trained(steps));
}

TEST_CASE("synthetic: names, types, values, their order and the number of steps decide state and metrics") {
  const Result one = Trained({{{"lr", 0.1}}, {{"lr", 0.2}}});
  CHECK(one == Trained({{{"lr", 0.1}}, {{"lr", 0.2}}}));
  for (const Steps& other : {Steps{{{"lr", 0.2}}, {{"lr", 0.1}}}, Steps{{{"lr", 0.1}}, {}}, Steps{{{"lr", 0.1}}},
                             Steps{{{"lr", 0.1}}, {{"lr", 0.2}}, {}}, Steps{{{"rl", 0.1}}, {{"rl", 0.2}}},
                             Steps{{{"lr", 0.1}}, {{"lr", 0.2}, {"x", true}}}}) {
    const Result result = Trained(other);
    CHECK(result.state_sha256 != one.state_sha256);
    CHECK(result.evaluation != one.evaluation);
  }
  CHECK(Trained({{{"x", kOne}}}).state_sha256 != Trained({{{"x", 1.0}}}).state_sha256);
  CHECK(Trained({{{"x", kOne}}}).state_sha256 != Trained({{{"x", true}}}).state_sha256);
}

TEST_CASE("synthetic: a value that is false, 0 or empty is the same as none") {
  const Steps neutral = {{{"a", false}, {"b", std::int64_t{0}}, {"c", 0.0}, {"d", std::string()}}, {}};
  CHECK(Trained(neutral) == Trained({{}, {}}));
  CHECK(Trained({{{"a", kOne}}, {{"a", std::int64_t{0}}}}) != Trained({{{"a", kOne}}, {}}));
  CHECK(Trained({{}, {{"a", kOne}}}) == Trained({{{"a", std::int64_t{0}}}, {{"a", kOne}}}));
}

TEST_CASE("synthetic: the state has the size asked for, and one of another size is refused") {
  const auto small = Begun(0);
  const auto large = Begun(1'000'000);
  small->Train();
  large->Train();
  CHECK(BytesOf(large->Save()) - BytesOf(small->Save()) > 999'000);
  CHECK(small->Evaluate() == large->Evaluate());
  CHECK_THROWS(small->Load(large->Save()));
  CHECK_THROWS(small->Load({}));
  CHECK_THROWS(Begun(-1));
  CHECK_THROWS(small->Setup({{"step_seconds", -1.0}}));
}

TEST_CASE("synthetic: the curve rises to its limit") {
  const auto trainer = Begun();
  trainer->Setup({{"curve_noise", 0.0}, {"lr", 0.1}});
  double before = trainer->Evaluate().at("test_acc");
  for (int step = 0; step < 20; ++step) {
    const double loss = trainer->Train().at("loss");
    const double now = trainer->Evaluate().at("test_acc");
    CHECK(now > before);
    CHECK(now < 0.9);
    CHECK(loss == 1 - now);
    before = now;
  }
  CHECK(before > 0.4);
}

}  // namespace espalier::trainer
