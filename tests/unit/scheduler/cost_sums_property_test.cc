// Random measurements, by seed: nothing depends on order, on what was replaced, or on how the nodes are parted; the
// regression is that of a solver which sees all nodes at once.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <set>

#include "scheduler/cost_sums.h"
#include "tests/support/random_seed.h"
#include "tests/unit/scheduler/fit_ridge.h"

namespace espalier {
namespace {

constexpr int kRounds = 300;

// A node with what was stored of it, one after another.
struct Node {
  Features features;
  std::vector<Measurement> stored;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}

  std::int64_t Whole(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(generator_);
  }
  bool OneIn(int count) { return Whole(1, count) == 1; }

  Value AnyValue(std::int64_t kind) {
    constexpr double kLrs[] = {0.1, 0.01, 3e-4};
    const char* const texts[] = {"", "adam", "sgd"};
    switch (kind % 6) {
      case 0:
        return std::int64_t{1} << Whole(0, 12);
      case 1:
        return kLrs[Whole(0, 2)];
      case 2:
        return OneIn(2);
      case 3:
        return std::string(texts[Whole(0, 2)]);
      case 4:
        return Whole(-1'000'000'000, 1'000'000'000);
      default:
        return 0.25;
    }
  }

  Measurement AnyMeasurement() {
    const std::int64_t count = Whole(1, 1 << Whole(0, 14));
    return {count, count * Whole(0, 1 << Whole(0, 30)) + Whole(0, count)};
  }

  // `width` declared hyper-parameters, and up to as many undeclared ones.
  Features AnyFeatures(int width) {
    Configuration configuration;
    for (int i = 0; i < width; ++i) configuration.functions.push_back({Constant{AnyValue(i)}, Step{0}});
    for (int i = 0; i < width; ++i) {
      if (OneIn(2)) continue;
      configuration.functions.push_back({Constant{AnyValue(i)}, Step{0}});
      configuration.undeclared.push_back("name" + std::to_string(100 + i));
    }
    PlanNode node;
    node.configuration = configuration;
    return FeaturesOf(node);
  }

  std::vector<Node> AnyNodes(int width) {
    std::vector<Node> nodes(Whole(1, 40));
    for (Node& node : nodes) {
      node.features = AnyFeatures(width);
      for (std::int64_t i = Whole(1, 3); i > 0; --i) node.stored.push_back(AnyMeasurement());
    }
    return nodes;
  }

  template <class T>
  void Shuffle(std::vector<T>& all) {
    std::shuffle(all.begin(), all.end(), generator_);
  }

 private:
  std::mt19937_64 generator_;
};

// Few hyper-parameters, about as many as have columns, or far more.
int AnyWidth(Random& random) { return static_cast<int>(random.OneIn(2) ? random.Whole(0, 6) : random.Whole(20, 90)); }

// Each node's measurements in their order, the nodes' interleaved at random.
CostSums Interleaved(const std::vector<Node>& nodes, Random& random) {
  std::vector<std::size_t> turns;
  for (std::size_t i = 0; i < nodes.size(); ++i) turns.insert(turns.end(), nodes[i].stored.size(), i);
  random.Shuffle(turns);
  CostSums sums;
  std::vector<std::size_t> done(nodes.size());
  for (const std::size_t i : turns) {
    const std::vector<Measurement>& stored = nodes[i].stored;
    const std::size_t now = done[i]++;
    sums.Replace(CostKind::kStep, nodes[i].features, now == 0 ? Measurement{} : stored[now - 1], stored[now]);
    if (random.OneIn(10)) sums.Estimate(CostKind::kStep, nodes[i].features);
  }
  return sums;
}

// Only what is stored in the end, in the order given.
CostSums Loaded(const std::vector<Node>& nodes) {
  CostSums sums;
  for (const Node& node : nodes) sums.Replace(CostKind::kStep, node.features, {}, node.stored.back());
  return sums;
}

std::int64_t ValueIn(const Features& features, const CostFeature& feature) {
  const auto found =
      std::find_if(features.begin(), features.end(), [&](const auto& e) { return e.feature == feature; });
  return found == features.end() ? 0 : found->value;
}

// What cost_sums.h says of estimates, from all nodes at once and in doubles.
class Oracle {
 public:
  explicit Oracle(const std::vector<Node>& nodes) {
    std::map<CostFeature, std::set<std::int64_t>> values;
    for (const Node& node : nodes) {
      for (const FeatureValue& each : node.features) values[each.feature];
    }
    for (auto& [feature, seen] : values) {
      for (const Node& node : nodes) seen.insert(ValueIn(node.features, feature));
      if (seen.size() > 1 && columns_.size() < kColumnCountMax) columns_.emplace(feature, seen);
    }
    std::vector<Observation> observations;
    for (const Node& node : nodes) {
      const double mean = Mean(node.stored.back());
      const auto weight = static_cast<double>(std::min<std::int64_t>(1024, node.stored.back().count));
      observations.push_back({Row(node.features), mean, weight});
      least = std::min(least, mean);
      largest = std::max(largest, mean);
    }
    weights_ = FitRidge(observations, 1e-6);
  }

  double Estimate(const Features& features) const { return Predict(weights_, Row(features)); }

  double least = std::numeric_limits<double>::infinity();
  double largest = 0;

 private:
  std::vector<double> Row(const Features& features) const {
    std::vector<double> row;
    for (const auto& [feature, seen] : columns_) {
      const std::int64_t value = std::clamp(ValueIn(features, feature), *seen.begin(), *seen.rbegin());
      row.push_back(static_cast<double>(value) / kFeatureUnits);
    }
    return row;
  }

  std::map<CostFeature, std::set<std::int64_t>> columns_;
  std::vector<double> weights_;
};

}  // namespace

TEST_CASE("estimates have the same bits whatever the order of measurements and what they replaced", "[property]") {
  Random random(RandomSeed("order of measurements"));
  for (int round = 0; round < kRounds; ++round) {
    const int width = AnyWidth(random);
    std::vector<Node> nodes = random.AnyNodes(width);
    const CostSums loaded = Loaded(nodes);
    const CostSums replaced = Interleaved(nodes, random);
    random.Shuffle(nodes);
    REQUIRE(replaced == loaded);
    REQUIRE(Loaded(nodes) == loaded);
    for (int i = 0; i < 5; ++i) {
      const Features probe = random.AnyFeatures(width);
      REQUIRE(replaced.Estimate(CostKind::kStep, probe) == loaded.Estimate(CostKind::kStep, probe));
    }
  }
}

TEST_CASE("the sums of parts are the sums of the whole", "[property]") {
  Random random(RandomSeed("sums of parts"));
  for (int round = 0; round < kRounds; ++round) {
    const int width = AnyWidth(random);
    const std::vector<Node> nodes = random.AnyNodes(width);
    std::vector<std::vector<Node>> parts(random.Whole(1, 4));
    for (const Node& node : nodes) parts[random.Whole(0, static_cast<std::int64_t>(parts.size()) - 1)].push_back(node);
    CostSums sums;
    for (const std::vector<Node>& part : parts) {
      CostSums added = Interleaved(part, random);
      if (random.OneIn(2)) std::swap(added, sums);
      sums += added;
    }
    REQUIRE(sums == Loaded(nodes));
    const Features probe = random.AnyFeatures(width);
    REQUIRE(sums.Estimate(CostKind::kStep, probe) == Loaded(nodes).Estimate(CostKind::kStep, probe));
  }
}

TEST_CASE("an estimate is what a regression over all nodes gives, within the bounds", "[property]") {
  Random random(RandomSeed("regression over all nodes"));
  for (int round = 0; round < kRounds; ++round) {
    const int width = AnyWidth(random);
    const std::vector<Node> nodes = random.AnyNodes(width);
    const CostSums sums = Interleaved(nodes, random);
    const Oracle oracle(nodes);
    for (int i = 0; i < 5; ++i) {
      const Features probe = i == 0 ? nodes[0].features : random.AnyFeatures(width);
      const double estimate = *sums.Estimate(CostKind::kStep, probe);
      REQUIRE(estimate > 0);
      REQUIRE(estimate >= oracle.least / 100);
      REQUIRE(estimate <= std::max(1e-3, oracle.largest * 8));
      const double expected = oracle.Estimate(probe);
      const double margin = 1e-6 * oracle.largest + 1e-3;
      if (expected < oracle.least / 50 + margin) {
        REQUIRE(estimate <= oracle.least / 50 + margin);
      } else if (expected > oracle.largest * 4) {
        REQUIRE(estimate >= oracle.largest * 4 - margin);
      } else {
        REQUIRE(estimate == Approx(expected).margin(margin));
      }
    }
  }
}

TEST_CASE("what is stored of a report is within an eighth and eight times the estimate", "[property]") {
  Random random(RandomSeed("clipping"));
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<Node> nodes = random.AnyNodes(4);
    const CostSums sums = Loaded(nodes);
    for (int i = 0; i < 10; ++i) {
      const bool known = random.OneIn(2);
      const Features features = known ? nodes[0].features : random.AnyFeatures(4);
      const Measurement own = known ? nodes[0].stored.back() : Measurement{};
      const double estimate = *sums.Estimate(CostKind::kStep, features, own);
      const Measurement reported = random.AnyMeasurement();
      const Measurement stored = Clipped(sums.Estimate(CostKind::kStep, features, own), own, reported);
      REQUIRE(stored.count >= 1);
      REQUIRE(stored.count <= reported.count);
      REQUIRE(Mean(stored) >= estimate / 8);
      REQUIRE(Mean(stored) <= std::max(1.0, estimate) * 8);
      const bool fits = estimate / 8 <= Mean(reported) && Mean(reported) <= std::max(1.0, estimate) * 8;
      if (fits) REQUIRE(stored == reported);
      if (!fits) REQUIRE(stored.count <= std::max<std::int64_t>(1, own.count));
      REQUIRE(Clipped(sums.Estimate(CostKind::kStep, features, own), own, stored) == stored);
    }
  }
}

}  // namespace espalier
