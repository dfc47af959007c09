// Properties of needed promises on random plans, against the header's rules followed step by step.
#include <algorithm>
#include <catch2/catch.hpp>

#include "scheduler/needed_promises.h"
#include "tests/support/random_plan.h"
#include "tests/unit/scheduler/step_by_step.h"

namespace espalier {
namespace {

constexpr std::uint64_t kSeeds = 10000;

using Answer = std::map<RunId, Needed>;

// The header's rules, claim by claim, step by step, run by run.
class Reference {
 public:
  explicit Reference(const RandomPlan& made) : plan_(made.plan), runs_(made.runs), open_(made.open) {}

  Answer Promises() {
    for (const RunView& run : runs_) answer_[run.id];
    for (const ClaimId id : plan_.waiting) Serve(plan_.claims.at(id));
    for (const RunView& run : runs_) {
      for (const PromisedAt& promise : run.promises) {
        const bool on_its_way = promise.owed == Owed::kState && promise.step <= run.at;
        if (!run.training || on_its_way) answer_[run.id].promises.insert(promise);
      }
    }
    std::map<Point, std::vector<const RunView*>> kept;  // who is asked to keep a state that nobody else promises
    for (const RunView& run : runs_) {
      for (const Point point : StatesToKeep(run)) kept[point].push_back(&run);
    }
    for (const auto& [point, runs] : kept) {
      if (!IsStatePromised(point)) answer_[BestOf(runs, point).id].promises.insert({point.step, Owed::kState});
    }
    return answer_;
  }

 private:
  static bool MayPromise(const RunView& run, Point point) {
    return run.training && !run.promises.empty() && Trains(run, point) && run.at <= point.step &&
           point.step <= run.promises.back().step;
  }

  // The one that has promised it already; of several, or if there is none, the one expected there first.
  static const RunView& BestOf(const std::vector<const RunView*>& runs, Point point) {
    const auto rank = [point](const RunView* run) {
      const std::int64_t steps_to_go = run->at < point.step ? point.step - run->at : 0;
      return std::tuple(Owes(*run, point, Owed::kState) ? 0 : 1, steps_to_go, run->id);
    };
    return **std::min_element(runs.begin(), runs.end(), [&](auto* a, auto* b) { return rank(a) < rank(b); });
  }

  void Serve(const Claim& claim) {
    std::vector<RunView> measuring;
    for (const RunView& run : runs_) {
      if (run.evaluation == claim.evaluation) measuring.push_back(run);
    }
    if (const RunView* run = FirstToOwe(measuring, claim.point, Owed::kMetrics)) return ServeByMetrics(*run, claim);
    for (std::optional<Point> point = claim.point; point; point = Before(plan_, *point)) {
      if (plan_.FindCheckpoint(*point) != nullptr) return;
      std::vector<const RunView*> able;
      for (const RunView& run : runs_) {
        if (Owes(run, *point, Owed::kState) || MayPromise(run, *point)) able.push_back(&run);
      }
      if (!able.empty()) return ServeByState(BestOf(able, *point), *point, claim);
    }
  }

  void ServeByMetrics(const RunView& run, const Claim& claim) {
    answer_[run.id].serves.insert(claim.id);
    answer_[run.id].promises.insert({claim.point.step, Owed::kMetrics});
    const bool stands = plan_.FindCheckpoint(claim.point) != nullptr;
    if (!stands && Owes(run, claim.point, Owed::kState))
      answer_[run.id].promises.insert({claim.point.step, Owed::kState});
    if (!stands && MayPromise(run, claim.point)) wanted_[run.id].insert(claim.point);
  }

  void ServeByState(const RunView& run, Point point, const Claim& claim) {
    answer_[run.id].serves.insert(claim.id);
    answer_[run.id].promises.insert({point.step, Owed::kState});
    const bool measures = run.evaluation == claim.evaluation && MayPromise(run, point);
    if (measures && point == claim.point) answer_[run.id].promises.insert({point.step, Owed::kMetrics});
  }

  bool IsStatePromised(Point point) const {
    return std::any_of(runs_.begin(), runs_.end(), [&](const RunView& run) {
      return (Trains(run, point) || run.start == point) &&
             answer_.at(run.id).promises.contains({point.step, Owed::kState});
    });
  }

  // With its metrics, and for open lineages.
  std::set<Point> StatesToKeep(const RunView& run) {
    std::set<Point> points = wanted_[run.id];
    const std::set<PromisedAt>& promises = answer_[run.id].promises;
    if (promises.empty()) return points;
    for (const OpenLineage& lineage : open_) {
      std::optional<Point> leaves;
      for (Step step{1}; step <= lineage.horizon; step = step + 1) {
        const Point point = PointOn(plan_, lineage.leaf, step);
        if (Trains(run, point)) leaves = point;
      }
      for (const std::optional<Point> point : {leaves, LastClaimOf(lineage)}) {
        const bool ahead = point && MayPromise(run, *point) && point->step < promises.rbegin()->step;
        if (ahead && plan_.FindCheckpoint(*point) == nullptr) points.insert(*point);
      }
    }
    return points;
  }

  std::optional<Point> LastClaimOf(const OpenLineage& lineage) const {
    if (lineage.last_claim == Step{0}) return std::nullopt;
    return PointOn(plan_, lineage.leaf, lineage.last_claim);
  }

  const SearchPlan& plan_;
  const std::vector<RunView>& runs_;
  const std::vector<OpenLineage>& open_;
  Answer answer_;
  std::map<RunId, std::set<Point>> wanted_;
};

std::string Print(const Answer& answer) {
  std::string text;
  for (const auto& [run, needed] : answer) {
    text += "run " + std::to_string(run.value) + " promises";
    for (const PromisedAt& promise : needed.promises) {
      text += " " + std::string(Name(promise.owed)) + "@" + std::to_string(promise.step.value);
    }
    text += " serves";
    for (const ClaimId claim : needed.serves) text += " " + std::to_string(claim.value);
    text += "\n";
  }
  return text;
}

Answer NeededIn(const RandomPlan& made) { return NeededPromises(made.plan, made.runs, made.open); }

RandomPlan WithPromises(RandomPlan made, const Answer& answer) {
  for (RunView& run : made.runs) {
    const std::set<PromisedAt>& promises = answer.at(run.id).promises;
    run.promises.assign(promises.begin(), promises.end());
  }
  return made;
}

template <class Property>
void ForRandomPlans(const Property& holds) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    holds(RandomPlanMaker(seed).Make());
  }
}

}  // namespace

TEST_CASE("needed promises are those that going step by step finds") {
  ForRandomPlans([](const RandomPlan& made) { REQUIRE(Print(NeededIn(made)) == Print(Reference(made).Promises())); });
}

TEST_CASE("needed promises stay when asked for again") {
  ForRandomPlans([](const RandomPlan& made) {
    const Answer needed = NeededIn(made);
    REQUIRE(Print(NeededIn(WithPromises(made, needed))) == Print(needed));
  });
}

TEST_CASE("needed promises do not depend on the order in which runs and open lineages came") {
  ForRandomPlans([](RandomPlan made) {
    const Answer needed = NeededIn(made);
    std::reverse(made.runs.begin(), made.runs.end());
    std::reverse(made.open.begin(), made.open.end());
    REQUIRE(Print(NeededIn(made)) == Print(needed));
  });
}

TEST_CASE("a run never lengthens, and one that does not train neither makes nor breaks a promise") {
  ForRandomPlans([](const RandomPlan& made) {
    const Answer needed = NeededIn(made);
    for (const RunView& run : made.runs) {
      const std::set<PromisedAt>& promises = needed.at(run.id).promises;
      if (!promises.empty()) REQUIRE(promises.rbegin()->step <= run.promises.back().step);
      if (run.training) continue;
      REQUIRE(promises == std::set<PromisedAt>(run.promises.begin(), run.promises.end()));
    }
  });
}

TEST_CASE("no state is withdrawn that its runner has reached, and none is promised that the runner has passed") {
  ForRandomPlans([](const RandomPlan& made) {
    const Answer needed = NeededIn(made);
    for (const RunView& run : made.runs) {
      const std::set<PromisedAt>& promises = needed.at(run.id).promises;
      const std::set<PromisedAt> before(run.promises.begin(), run.promises.end());
      for (const PromisedAt& promise : before) {
        if (promise.owed == Owed::kState && promise.step <= run.at) REQUIRE(promises.contains(promise));
      }
      for (const PromisedAt& promise : promises) REQUIRE((before.contains(promise) || run.at <= promise.step));
    }
  });
}

TEST_CASE("withdrawing promises that nobody needs never makes more to train") {
  ForRandomPlans([](const RandomPlan& made) {
    const std::set<Point> before = AllWork(made.plan, made.runs);
    const RandomPlan after = WithPromises(made, NeededIn(made));
    const std::set<Point> work = AllWork(after.plan, after.runs);
    REQUIRE(std::includes(before.begin(), before.end(), work.begin(), work.end()));
  });
}

TEST_CASE("what a run promises more than it did no checkpoint and no other run holds") {
  ForRandomPlans([](const RandomPlan& made) {
    const RandomPlan after = WithPromises(made, NeededIn(made));
    for (const RunView& run : after.runs) {
      const auto before = std::find_if(made.runs.begin(), made.runs.end(), [&](auto& one) { return one.id == run.id; });
      for (const PromisedAt& promise : run.promises) {
        const bool is_new = std::count(before->promises.begin(), before->promises.end(), promise) == 0;
        if (promise.owed != Owed::kState || !is_new) continue;
        const Point point = PointOnPath(run, promise.step);
        REQUIRE(after.plan.plan().FindCheckpoint(point) == nullptr);
        const auto owes = [point](const RunView& one) { return Owes(one, point, Owed::kState); };
        REQUIRE(std::count_if(after.runs.begin(), after.runs.end(), owes) == 1);
      }
    }
  });
}

}  // namespace espalier
