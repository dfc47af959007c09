#include "worker/trainer/state.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <set>

#include "worker/trainer/data/sample_order.h"
#include "worker/trainer/registry.h"

namespace espalier::trainer {
namespace {

State SomeState() {
  std::string floats(24, '\0');
  for (std::size_t i = 0; i < floats.size(); ++i)
    floats[i] = static_cast<char>(0xf8 + i);  // NaNs with payloads among them
  return {{"a", {.type = "float32", .shape = {2, 3}, .bytes = floats}},
          {"double", {.type = "float64", .shape = {3}, .bytes = floats}},
          {"empty", {.type = "float32", .shape = {0, 4}, .bytes = {}}},
          {"half", {.type = "bfloat16", .shape = {12}, .bytes = floats}},
          {"bits", {.type = "boolean", .shape = {2}, .bytes = std::string("\1\0", 2)}},
          {"number", WholeNumber(-5)},
          {"text", Text("any text")}};
}

}  // namespace

TEST_CASE("a state reads back from its payload bit for bit", "[torch]") {
  const State state = SomeState();
  const std::string payload = Serialize(state).value();
  CHECK(ParseState(payload).value() == state);
  CHECK(ParseState(Serialize({}).value()).value().empty());
  CHECK(ReadWholeNumber(state, "number") == -5);
}

TEST_CASE("bytes that are no payload are refused", "[torch]") {
  const std::string payload = Serialize(SomeState()).value();
  for (const std::string& bytes : {std::string(), std::string("x"), payload.substr(0, payload.size() / 2)}) {
    CHECK_FALSE(ParseState(bytes).has_value());
  }
}

TEST_CASE("the digest of a state is the same in every release, and differs with every part", "[torch]") {
  CHECK(Sha256Of({}) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(Sha256Of({{"b", WholeNumber(1)}, {"a", {.type = "uint8", .shape = {1, 2}, .bytes = "xy"}}}) ==
        "66fa5d1d602db6808f73db32880aff704426101102594ef2e0c1983fafcb7bf0");
  std::set<std::string> digests{Sha256Of(SomeState())};
  for (const auto& [name, array] : SomeState()) {
    State other = SomeState();
    other.erase(name);
    digests.insert(Sha256Of(other));
    other[name + "_"] = array;
    digests.insert(Sha256Of(other));
    other = SomeState();
    other[name].type += "_";
    digests.insert(Sha256Of(other));
    other = SomeState();
    other[name].shape.push_back(1);
    digests.insert(Sha256Of(other));
    other = SomeState();
    other[name].bytes += '\0';
    digests.insert(Sha256Of(other));
  }
  CHECK(digests.size() == 1 + 5 * SomeState().size());
}

TEST_CASE("the order of samples is a permutation, the same in every release, another in every epoch and seed") {
  std::set<std::vector<std::int64_t>> orders;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::int64_t epoch = 0; epoch < 10; ++epoch) {
      std::vector<std::int64_t> order = ShuffledSamples(100, seed, epoch);
      orders.insert(order);
      std::ranges::sort(order);
      for (std::int64_t i = 0; i < 100; ++i) REQUIRE(order[static_cast<std::size_t>(i)] == i);
    }
  }
  CHECK(orders.size() == 100);
  CHECK(ShuffledSamples(1, 3, 4) == std::vector<std::int64_t>{0});
  CHECK(ShuffledSamples(8, 1, 0) == std::vector<std::int64_t>{4, 2, 0, 5, 6, 1, 7, 3});
}

TEST_CASE("each sample is equally likely at each place") {
  constexpr int kEpochCount = 6000;
  int counts[6][6] = {};
  for (int epoch = 0; epoch < kEpochCount; ++epoch) {
    const auto order = ShuffledSamples(6, 1, epoch);
    for (std::size_t place = 0; place < 6; ++place) ++counts[place][order[place]];
  }
  for (const auto& place : counts) {
    for (const int count : place) CHECK(std::abs(count - 1000) < 150);  // five standard deviations
  }
}

TEST_CASE("batches of any size keep the order, and none spans an epoch's end") {
  SampleOrder order(10, 1);
  const auto first = ShuffledSamples(10, 1, 0);
  const auto second = ShuffledSamples(10, 1, 1);
  std::vector<std::int64_t> seen;
  std::vector<std::size_t> sizes;
  for (const std::int64_t batch_size : {4, 3, 5, 5, 20}) {
    const auto batch = order.Next(batch_size);
    sizes.push_back(batch.size());
    seen.insert(seen.end(), batch.begin(), batch.end());
  }
  CHECK(sizes == std::vector<std::size_t>{4, 3, 3, 5, 5});
  CHECK(std::equal(first.begin(), first.end(), seen.begin()));
  CHECK(std::equal(second.begin(), second.end(), seen.begin() + 10));
  CHECK(order.epoch() == 2);
  CHECK(order.position() == 0);

  SampleOrder other(10, 1);
  REQUIRE(other.GoTo(1, 5));
  const auto batch = other.Next(5);
  CHECK(std::equal(batch.begin(), batch.end(), second.begin() + 5));
  CHECK_FALSE(other.GoTo(0, 10));
  CHECK_FALSE(other.GoTo(-1, 0));
}

TEST_CASE("the built-in trainers declare what they are, the same in every release", "[torch]") {
  for (const TrainerKind& kind : BuiltInTrainers()) {
    INFO(kind.name);
    CHECK(std::ranges::is_sorted(kind.hyper_parameters, {}, &DeclaredHyperParameter::name));
    CHECK(std::ranges::is_sorted(kind.metrics));
    CHECK_FALSE(kind.code_digest.empty());
  }
  const TrainerKind mlp = BuiltInTrainers().front();
  CHECK(mlp.name == "mlp");
  CHECK(mlp.data == "digits");
  CHECK(mlp.data_digest == "a4c694675508372004de22e309f569d340674745c69c85d84bf0186ee147634c");
  CHECK(mlp.evaluation_digest == "ae3e5bf5f8852097305c1c1c52b25a77bf203bbacb031981f38e97ee1f5cb2ba");
}

}  // namespace espalier::trainer
