// Near misses among many sequences.
#include "searchplan/sequence/near_miss_search.h"

#include <numeric>
#include <random>

#include "tests/unit/sequence/sequence_samples.h"
#include "tests/unit/sequence/sequence_testing.h"

namespace espalier {
namespace {

using Texts = std::vector<std::string>;

std::vector<Sequence> CompiledAll(const Texts& texts, std::int64_t horizon = 100) {
  std::vector<Sequence> sequences;
  for (const std::string& text : texts) sequences.push_back(Compiled(text, horizon));
  return sequences;
}

std::vector<std::pair<std::size_t, std::size_t>> Pairs(const std::vector<Sequence>& sequences) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (const NearPair& pair : FindNearMisses(sequences)) {
    CHECK(FindNearMiss(sequences[pair.a], sequences[pair.b]) == pair.near_miss);
    pairs.emplace_back(pair.a, pair.b);
  }
  return pairs;
}

// The parts that near misses join, each sequence under the smallest index of its part.
std::vector<std::size_t> PartsJoinedBy(const std::vector<std::pair<std::size_t, std::size_t>>& pairs,
                                       std::size_t count) {
  std::vector<std::size_t> part(count);
  std::iota(part.begin(), part.end(), 0);
  for (const auto& [a, b] : pairs) {
    const std::size_t from = std::max(part[a], part[b]);
    const std::size_t to = std::min(part[a], part[b]);
    std::replace(part.begin(), part.end(), from, to);
  }
  return part;
}

}  // namespace

TEST_CASE("near misses are found wherever sequences part") {
  CHECK(Pairs(CompiledAll({"MultiStep(0.1, [40], 0.1)", "0.1", "Piecewise([0.1, 0.01], [40])", "0.2"})) ==
        std::vector<std::pair<std::size_t, std::size_t>>{{0, 2}});
  // One leaves the other's function for one that is nearly the same.
  CHECK(Pairs(CompiledAll({"0.1", "Piecewise([0.1, 0.10000000000000002], [40])"})).size() == 1);
  CHECK(Pairs(CompiledAll({"0.3", "Scale(3, 0.1)", "Exponential(0.3, 0.9)"})) ==
        std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}});
  CHECK(
      Pairs(CompiledAll({"Piecewise([0.1, 0.30000000000000004], [7])", "Piecewise([0.1, 0.3, 5], [7, 20])"})).size() ==
      1);
  CHECK(Pairs(CompiledAll({"Exponential(0.1, 0.9)", "Exponential(0.1, 0.9000000000000001)"})).size() == 1);
}

TEST_CASE("equal and really different sequences are no near misses, nor are those of other types") {
  CHECK(Pairs(CompiledAll({"0.1", "0.1", "0.2", "Cosine(0.1, 0, 50)", "Cosine(0.1, 0, 51)"})).empty());
  CHECK(Pairs({Compiled("1", 9, ValueType::kInteger), Compiled("2", 9, ValueType::kInteger)}).empty());
  CHECK(Pairs({}).empty());
}

TEST_CASE("of sequences that all nearly meet, as many pairs are named as join them") {
  Texts texts;
  for (int i = 0; i < 6; ++i)
    texts.push_back("Piecewise([0.5, 0.1" + std::string(14, '0') + std::to_string(i) + "], [9])");
  CHECK(Pairs(CompiledAll(texts)).size() == 5);
}

TEST_CASE("what comparing every pair joins, the search joins") {
  const std::uint64_t seed = 20261121;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 30; ++round) {
    Texts texts;
    for (int i = 0; i < 40; ++i) {
      const std::string first = random() % 2 == 0 ? "0.1" : "Warmup(0.01, 5, 0.1)";
      const std::string milestone = std::to_string(10 + 10 * (random() % 3));
      const char* const ends[] = {"0.01", "0.010000000000000002", "0.02", "Exponential(0.01, 0.9)",
                                  "Exponential(0.010000000000000002, 0.9)"};
      texts.push_back("Piecewise([" + first + ", " + ends[random() % 5] + "], [" + milestone + "])");
    }
    const std::vector<Sequence> sequences = CompiledAll(texts);
    std::vector<std::pair<std::size_t, std::size_t>> every;
    for (std::size_t a = 0; a < sequences.size(); ++a) {
      for (std::size_t b = a + 1; b < sequences.size(); ++b) {
        if (sequences[a] == sequences[b] || FindNearMiss(sequences[a], sequences[b])) every.emplace_back(a, b);
      }
    }
    std::vector<std::pair<std::size_t, std::size_t>> found = Pairs(sequences);
    for (std::size_t a = 0; a < sequences.size(); ++a) {
      for (std::size_t b = a + 1; b < sequences.size(); ++b) {
        if (sequences[a] == sequences[b]) found.emplace_back(a, b);
      }
    }
    CHECK(PartsJoinedBy(found, texts.size()) == PartsJoinedBy(every, texts.size()));
  }
}

TEST_CASE("ten thousand sequences that begin alike are searched without comparing every pair") {
  std::vector<Sequence> sequences;
  for (int i = 0; i < 10'000; ++i) {
    sequences.push_back(Compiled("Exponential(0.1, 0.9" + std::to_string(10'000 + i) + ")", 1'000));
  }
  sequences.push_back(Compiled("Exponential(0.1, 0.9100010000000001)", 1'000));
  CHECK(Pairs(sequences).size() == 1);
}

}  // namespace espalier
