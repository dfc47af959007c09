#include "scheduler/checkpoint_cache.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "tests/support/random_seed.h"

namespace espalier {
namespace {

constexpr std::int64_t kMicroseconds = 1'000'000;
constexpr PlanId kCachedPlan{1};

Time AtSecond(std::int64_t second) { return Time(std::chrono::seconds(second)); }
Point OfStep(std::int64_t step) { return {PlanNodeId{1}, Step{step}}; }

// Of a megabyte, used once at second 0, and remade in a second, but for what is said.
struct KnownCheckpoint {
  std::int64_t bytes = 1'000'000;
  CacheValue value{.uses = 1, .last_used = AtSecond(0), .remake_time = kMicroseconds};
  Standing standing = Standing::kIdle;
};

void AddTo(CheckpointCache& cache, std::int64_t step, const KnownCheckpoint& known) {
  cache.Add(OfStep(step), kCachedPlan, known.bytes);
  cache.SetStanding(OfStep(step), known.standing, known.value);
}

Step FirstToGo(const CheckpointCache& cache, Time now) { return cache.First(now).value().point.step; }

}  // namespace

TEST_CASE("what is large, unused for long, seldom used, or soon remade goes first") {
  const std::vector<std::pair<KnownCheckpoint, KnownCheckpoint>> pairs = {
      {{.bytes = 3'000'000}, {}},
      {{.value = {1, AtSecond(0), kMicroseconds}}, {.value = {1, AtSecond(50), kMicroseconds}}},
      {{.value = {1, AtSecond(0), kMicroseconds}}, {.value = {4, AtSecond(0), kMicroseconds}}},
      {{.value = {1, AtSecond(0), kMicroseconds}}, {.value = {1, AtSecond(0), 9 * kMicroseconds}}},
      {{.bytes = 3'000'000, .value = {2, AtSecond(50), kMicroseconds}}, {.value = {1, AtSecond(40), kMicroseconds}}},
  };
  for (const auto& [goes, stays] : pairs) {
    CheckpointCache cache;
    AddTo(cache, 1, stays);
    AddTo(cache, 2, goes);
    CHECK(FirstToGo(cache, AtSecond(100)) == Step{2});
  }
}

TEST_CASE("who goes first changes with time alone") {
  CheckpointCache cache;
  AddTo(cache, 1, {.bytes = 1'000'000, .value = {1, AtSecond(0), kMicroseconds}});
  AddTo(cache, 2, {.bytes = 4'000'000, .value = {1, AtSecond(90), kMicroseconds}});
  CHECK(FirstToGo(cache, AtSecond(100)) == Step{1});
  CHECK(FirstToGo(cache, AtSecond(200)) == Step{2});
}

TEST_CASE("an open trial's state goes when nothing else is left, and what is needed never") {
  CheckpointCache cache;
  AddTo(cache, 1, {.bytes = 1, .value = {9, AtSecond(99), 99 * kMicroseconds}});
  AddTo(cache, 2, {.standing = Standing::kOpenTrial});
  AddTo(cache, 3, {.standing = Standing::kNeeded});
  cache.Add(OfStep(4), kCachedPlan, 7);
  CHECK(cache.bytes() == 2'000'008);
  CHECK(cache.StandingOf(OfStep(4)) == Standing::kNeeded);
  CHECK(FirstToGo(cache, AtSecond(100)) == Step{1});
  cache.Remove(OfStep(1));
  CHECK(FirstToGo(cache, AtSecond(100)) == Step{2});
  cache.Remove(OfStep(2));
  CHECK_FALSE(cache.First(AtSecond(100)).has_value());
  CHECK(cache.bytes() == 1'000'007);
  CHECK_FALSE(cache.StandingOf(OfStep(2)).has_value());
}

TEST_CASE("whatever is added, changed and removed, what goes first has at least 4/5 of the largest ratio") {
  std::mt19937_64 random(RandomSeed("checkpoint cache"));
  const auto draw = [&](std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random);
  };
  CheckpointCache cache;
  std::map<Point, KnownCheckpoint> known;
  for (int i = 0; i < 2000; ++i) {
    const Point point = OfStep(draw(1, 40));
    if (draw(0, 3) == 0) {
      cache.Remove(point);
      known.erase(point);
    } else {
      const KnownCheckpoint drawn{.bytes = draw(0, 1) == 0 ? draw(0, 1000) : draw(0, 1'000'000'000),
                                  .value = {draw(1, 5), AtSecond(draw(0, 1000)), draw(1, 1000 * kMicroseconds)},
                                  .standing = static_cast<Standing>(draw(0, 2))};
      AddTo(cache, point.step.value, drawn);
      known[point] = drawn;
    }
    const Time now = AtSecond(draw(0, 2000));
    const auto ratio = [&](const KnownCheckpoint& each) {
      const auto since = std::max<std::int64_t>(1, (now - each.value.last_used).count());
      return static_cast<double>(std::max<std::int64_t>(1, each.bytes)) * static_cast<double>(since) /
             (static_cast<double>(each.value.uses) * static_cast<double>(each.value.remake_time));
    };
    std::map<Standing, double> largest;
    std::int64_t bytes = 0;
    for (const auto& [at, each] : known) {
      largest[each.standing] = std::max(largest[each.standing], ratio(each));
      bytes += each.bytes;
    }
    largest.erase(Standing::kNeeded);
    REQUIRE(cache.bytes() == bytes);
    REQUIRE(cache.size() == known.size());
    const auto first = cache.First(now);
    REQUIRE(first.has_value() == !largest.empty());
    if (!first) continue;
    const KnownCheckpoint& chosen = known.at(first->point);
    REQUIRE(chosen.standing == largest.rbegin()->first);  // kIdle before kOpenTrial
    REQUIRE(ratio(chosen) >= 0.8 * largest.rbegin()->second);
  }
}

}  // namespace espalier
