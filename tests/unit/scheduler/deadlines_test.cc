// What training by a deadline is decided by: rungs, entrance, slots dealt out, growth (scheduler/rungs.h,
// deadline_rules.h, deadline_study.h).
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "scheduler/deadline_rules.h"
#include "scheduler/deadline_study.h"
#include "scheduler/rungs.h"

namespace espalier {
namespace {

// One rung, at which trials are measured one after another, numbered from 0 on.
struct OneRung {
  Rungs rungs{Step{1}, 4, Goal::kMaximize};
  std::int64_t count = 0;

  TrialId Arrive(double score) {
    const TrialId trial{count++};
    rungs.Record(0, trial, score);
    return trial;
  }
  std::string Below() const {
    std::string below;
    for (std::int64_t i = 0; i < count; ++i) below += rungs.IsBelow(0, TrialId{i}) ? 'P' : 'C';
    return below;
  }
};

}  // namespace

TEST_CASE("rungs stand at the first steps and each time at so many times as many") {
  const Rungs rungs(Step{2}, 4, Goal::kMaximize);
  CHECK(rungs.CountUpTo(Step{1}) == 0);
  CHECK(rungs.CountUpTo(Step{2}) == 1);
  CHECK(rungs.CountUpTo(Step{7}) == 1);
  CHECK(rungs.CountUpTo(Step{8}) == 2);
  CHECK(rungs.CountUpTo(Step{32}) == 3);
  CHECK(rungs.CountUpTo(Step{127}) == 3);
  CHECK(rungs.CountUpTo(Step{128}) == 4);
  CHECK(rungs.CountUpTo(Step{200}) == 4);
  CHECK(rungs.CountUpTo(Step{std::numeric_limits<std::int64_t>::max()}) == 31);
}

TEST_CASE("the first at a rung go on, until better ones come") {
  OneRung rung;
  std::string at_arrival;
  std::vector<std::string> later;
  for (const double score : {.62, .70, .55, .74, .74, .66, .81, .40, .78}) {
    rung.Arrive(score);
    later.push_back(rung.Below());
    at_arrival += later.back().back();
  }
  CHECK(at_arrival == "CCPCCPCPC");
  CHECK(later[1] == "PC");
  CHECK(later[3] == "PPPC");
  CHECK(later[4] == "PPPCC");
  CHECK(later[6] == "PPPPPPC");
  CHECK(later[7] == "PPPCCPCP");  // the second best counts, and another has as much
  CHECK(later[8] == "PPPPPPCPC");
}

TEST_CASE("of those that are held the best goes on, if it is among the best of its rung") {
  OneRung rung;
  for (const double score : {.62, .70, .55, .74, .74, .66, .81}) rung.Arrive(score);
  for (const std::int64_t held : {0, 1, 2, 3, 4, 5}) rung.rungs.SetHeld(0, TrialId{held}, true);
  CHECK_FALSE(rung.rungs.BestHeld());
  rung.Arrive(.40);
  CHECK(rung.rungs.BestHeld() == TrialId{3});
  rung.rungs.SetHeld(0, TrialId{3}, false);
  CHECK_FALSE(rung.rungs.BestHeld());  // the other of the same score is not among the first two
  rung.rungs.Record(1, TrialId{6}, .9);
  rung.rungs.SetHeld(0, TrialId{3}, true);
  rung.rungs.SetHeld(1, TrialId{6}, true);
  CHECK(rung.rungs.BestHeld() == TrialId{6});  // of the highest rung
}

TEST_CASE("one that is behind at a lower rung does not go on, or it would be held again at once") {
  Rungs rungs(Step{1}, 4, Goal::kMaximize);
  rungs.Record(0, TrialId{1}, .5);
  rungs.Record(0, TrialId{2}, .6);
  rungs.Record(1, TrialId{1}, .7);
  rungs.SetHeld(1, TrialId{1}, true);
  CHECK_FALSE(rungs.BestHeld());
  rungs.Erase(0, TrialId{2});
  CHECK(rungs.BestHeld() == TrialId{1});
}

TEST_CASE("where less is better the least goes on, and what is no number is the worst") {
  Rungs rungs(Step{1}, 4, Goal::kMinimize);
  rungs.Record(0, TrialId{1}, std::nan(""));
  CHECK_FALSE(rungs.IsBelow(0, TrialId{1}));
  rungs.Record(0, TrialId{2}, 3);
  rungs.Record(0, TrialId{3}, 2);
  CHECK(rungs.IsBelow(0, TrialId{1}));
  CHECK(rungs.IsBelow(0, TrialId{2}));
  CHECK_FALSE(rungs.IsBelow(0, TrialId{3}));
}

TEST_CASE("a trial enters as long as it may be trained to its end, or four times as far as any, by the deadline") {
  const auto worth = [](std::int64_t steps, double step, double furthest, double left) {
    return IsWorthEntering(
        {.steps = steps, .step = Seconds(step), .furthest = Seconds(furthest), .left = Seconds(left)}, 4);
  };
  CHECK(worth(100, 30, 60, 900));
  CHECK_FALSE(worth(100, 30, 225, 900));
  CHECK(worth(100, 30, 1000, 3600));
  CHECK_FALSE(worth(100, 30, 1000, 3000));
}

TEST_CASE("slots are dealt one by one, and what does not go round is the best trials'") {
  CHECK(Deal(10, 4) == std::vector<std::int64_t>{3, 3, 2, 2});
  CHECK(Deal(7, 2) == std::vector<std::int64_t>{4, 3});
  CHECK(Deal(2, 3) == std::vector<std::int64_t>{1, 1, 0});
}

TEST_CASE("a run grows where it gets further by the deadline so, the change included") {
  const std::map<std::int64_t, double> speeds{{2, 1.87}, {4, 3.42}, {8, 5.60}};
  CHECK(SpeedOn(1, speeds) == 1);
  CHECK(SpeedOn(2, speeds) == 1.87);
  CHECK(SpeedOn(3, speeds) == Approx(2.645));
  CHECK(SpeedOn(6, speeds) == Approx(4.51));
  CHECK(SpeedOn(99, speeds) == 5.60);
  CHECK(SpeedOn(99, {}) == 1);
  CHECK(SpeedOn(2, {{4, 4}}) == 2);
  const auto worth = [&](double left, double change, std::int64_t from, std::int64_t to) {
    return IsWorthResizing(Seconds(left), Seconds(change), SpeedOn(from, speeds), SpeedOn(to, speeds));
  };
  CHECK(worth(60, 20, 1, 2));
  CHECK_FALSE(worth(40, 20, 1, 2));
  CHECK(worth(60, 20, 4, 8));
  CHECK_FALSE(worth(50, 20, 4, 8));
  CHECK_FALSE(worth(100, 30, 2, 3));
}

TEST_CASE("what is written on a trial says the same when it is read again") {
  const StandingMark mark{DeadlineStanding::kResizing, Step{40}, Seconds(0.1)};
  CHECK(Print(mark) == "resizing, 40 steps in 0.1 s");
  CHECK(ParseStandingMark(Print(mark)) == mark);
  CHECK_FALSE(ParseStandingMark("resizing, 40 steps in a while"));
  CHECK_FALSE(ParseStandingMark("asleep, 40 steps in 0.1 s"));
}

}  // namespace espalier
