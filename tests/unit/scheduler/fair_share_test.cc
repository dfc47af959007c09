// Who is due, and who yields (scheduler/fair_share.h), with slots that are given and taken by hand.
#include "scheduler/fair_share.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/support/random_seed.h"
#include "tests/support/rounds.h"

namespace espalier {
namespace {

constexpr StudyId kA{1};
constexpr StudyId kB{2};

// Slots of one kind; a slot that is free goes to whoever is due.
class Slots {
 public:
  explicit Slots(int count) : idle_(count) { share.SetTime(Time{}); }

  void GoTo(double seconds) {
    const auto microseconds = static_cast<std::int64_t>(seconds * 1e6);
    share.SetTime(Time{std::chrono::microseconds(microseconds)});
    share.Advance();
  }
  // Gives all that are idle. Those that are due get runs one after another.
  std::vector<StudyId> Give() {
    std::vector<StudyId> given;
    for (; idle_ > 0; --idle_) {
      const auto due = share.FirstDue([](StudyId study) { return std::optional(study); });
      if (!due) break;
      share.Hold(RunId{++last_run_}, 1, {*due});
      given.push_back(*due);
    }
    return given;
  }
  void End(RunId run) {
    share.Release(run);
    ++idle_;
  }
  RunId last_run() const { return RunId{last_run_}; }

  FairShare share;

 private:
  int idle_;
  std::int64_t last_run_ = 0;
};

std::int64_t CountOf(const std::vector<StudyId>& given, StudyId study) {
  return std::count(given.begin(), given.end(), study);
}

}  // namespace

TEST_CASE("slots that are given at one moment are dealt out by weight") {
  Slots slots(8);
  slots.share.AddStudy(kA, "a", 1);
  slots.share.AddStudy(kB, "b", 1);
  slots.share.SetTeamWeight("b", 3);
  for (const StudyId study : {kA, kB}) slots.share.Want(study, true);
  const std::vector<StudyId> given = slots.Give();
  CHECK(CountOf(given, kA) == 2);
  CHECK(CountOf(given, kB) == 6);
}

TEST_CASE("what a team has goes to its studies by their weights, whatever other teams have") {
  Slots slots(8);
  constexpr StudyId kOther{3};
  slots.share.AddStudy(kA, "a", 1);
  slots.share.AddStudy(kB, "a", 3);
  slots.share.AddStudy(kOther, "b", 7);
  for (const StudyId study : {kA, kB, kOther}) slots.share.Want(study, true);
  const std::vector<StudyId> given = slots.Give();
  CHECK(CountOf(given, kA) == 1);
  CHECK(CountOf(given, kB) == 3);
  CHECK(CountOf(given, kOther) == 4);
}

TEST_CASE("a run for several studies counts for each, in equal parts") {
  Slots slots(4);
  slots.share.AddStudy(kA, "a", 1);
  slots.share.AddStudy(kB, "b", 1);
  slots.share.AddStudy(StudyId{3}, "c", 1);
  slots.share.Hold(RunId{100}, 4, {kA, kB, StudyId{3}});
  std::int64_t held = 0;
  for (const char* team : {"a", "b", "c"}) held += slots.share.teams().Find(team)->held;
  CHECK(held == 4 * kWholeSlot);  // whatever is left of a third is somebody's
  CHECK(slots.share.teams().Find("b")->slots() == Approx(4.0 / 3));
  slots.share.Release(RunId{100});
  CHECK(slots.share.teams().Find("a")->held == 0);
  CHECK(slots.share.teams().most().empty());
}

TEST_CASE("a slot that nobody else wants goes to a team however much it has had") {
  Slots slots(2);
  slots.share.AddStudy(kA, "a", 1);
  slots.share.AddStudy(kB, "b", 1000);
  slots.share.Want(kA, true);
  slots.GoTo(7200);
  CHECK(CountOf(slots.Give(), kA) == 2);
}

TEST_CASE("a team that was away has no credit for it, and owes nothing for what nobody else wanted") {
  Slots slots(4);
  slots.share.AddStudy(kA, "a", 1);
  slots.share.AddStudy(kB, "b", 1);
  slots.share.Want(kA, true);
  slots.Give();
  slots.GoTo(86400);
  slots.share.Want(kB, true);
  std::map<StudyId, std::int64_t> given;
  std::map<RunId, double> ends;
  for (std::int64_t run = 1; run <= 4; ++run) ends[RunId{run}] = 86400 + 10.0 * static_cast<double>(run);
  for (int i = 0; i < 400; ++i) {
    const auto next = std::ranges::min_element(ends, {}, [](const auto& entry) { return entry.second; });
    const double now = next->second;
    slots.GoTo(now);
    slots.End(next->first);
    ends.erase(next);
    for (const StudyId study : slots.Give()) ++given[study];
    ends[slots.last_run()] = now + 40;
  }
  CHECK(std::abs(given[kA] - given[kB]) <= 8);
}

TEST_CASE("in the long run each team has its share, however long its runs are and whatever the weights") {
  const std::uint64_t seed = RandomSeed("shares in the long run");
  std::mt19937 random(seed);
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  for (int round = 0; round < Rounds(20); ++round) {
    Slots slots(draw(1, 6));
    std::map<StudyId, double> weights;
    std::map<StudyId, double> length;
    const int teams = draw(2, 4);
    for (int i = 1; i <= teams; ++i) {
      const StudyId study{i};
      weights[study] = draw(1, 4);
      length[study] = draw(1, 300);
      slots.share.AddStudy(study, std::to_string(i), 1);
      slots.share.SetTeamWeight(std::to_string(i), weights[study]);
      slots.share.Want(study, true);
    }
    std::multimap<double, std::pair<RunId, StudyId>> ends;
    std::map<StudyId, double> had;
    const auto give = [&](double now) {
      const std::int64_t before = slots.last_run().value;
      const std::vector<StudyId> given = slots.Give();
      for (std::size_t i = 0; i < given.size(); ++i) {
        const RunId run{before + 1 + static_cast<std::int64_t>(i)};
        ends.emplace(now + length[given[i]], std::pair(run, given[i]));
        had[given[i]] += length[given[i]];
      }
    };
    give(0);
    constexpr double kLong = 300'000;
    while (ends.begin()->first < kLong) {
      const auto [now, run] = *ends.begin();
      ends.erase(ends.begin());
      slots.GoTo(now);
      slots.End(run.first);
      give(now);
    }
    double whole = 0;
    double weight = 0;
    for (const auto& [study, time] : had) whole += time;
    for (const auto& [study, each] : weights) weight += each;
    for (const auto& [study, time] : had) {
      INFO("study " << study.value << " of " << teams);
      // The longest run of each slot may be on either side of its due.
      CHECK(std::abs(time - whole * weights[study] / weight) < 3000);
    }
  }
}

TEST_CASE("a slot that was taken for a team is never taken back at once") {
  const std::uint64_t seed = RandomSeed("slots taken back");
  std::mt19937 random(seed);
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  int yielded = 0;
  for (int round = 0; round < Rounds(2000); ++round) {
    FairQueue<int> parties;
    for (const int party : {1, 2}) {
      parties.SetWeight(party, draw(1, 5), 0);
      parties.Hold(party, draw(0, 8) * kWholeSlot / draw(1, 3), 0);
      parties.Want(party, true, 0);
    }
    const double now = draw(0, 1000) * 1e6;
    if (!parties.ShouldYield(1, 1, 2, now)) continue;
    ++yielded;
    parties.Hold(1, -kWholeSlot, now);
    parties.Hold(2, kWholeSlot, now);
    CHECK_FALSE(parties.ShouldYield(2, 1, 1, now));
  }
  CHECK(yielded > 0);
}

TEST_CASE("a finished study is forgotten once it holds nothing, and what serves it then counts for the others") {
  Slots slots(2);
  slots.share.AddStudy(kA, "a", 1);
  slots.share.AddStudy(kB, "a", 1);
  slots.share.Hold(RunId{1}, 1, {kA});
  slots.share.FinishStudy(kA);
  CHECK(slots.share.studies_of("a").Find(kA) != nullptr);
  slots.share.Release(RunId{1});
  CHECK(slots.share.studies_of("a").Find(kA) == nullptr);
  slots.share.SetStudyWeight(kA, 2);
  slots.share.Want(kA, true);
  CHECK(slots.share.studies_of("a").Find(kA) == nullptr);
  slots.share.Hold(RunId{2}, 1, {kA, kB});
  CHECK(slots.share.studies_of("a").Find(kB)->held == kWholeSlot);
}

}  // namespace espalier
