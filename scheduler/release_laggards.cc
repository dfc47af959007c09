#include "scheduler/release_laggards.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "searchplan/sequence/value.h"

namespace espalier {
namespace {

constexpr double kWorth = 1.5;  // HyperDrive 6.1

bool IsBetter(Goal goal, double a, double b) { return goal == Goal::kMaximize ? a > b : a < b; }

double WorstOf(Goal goal) {
  const double worst = std::numeric_limits<double>::infinity();
  return goal == Goal::kMaximize ? -worst : worst;
}

double BestOn(const std::vector<MeasuredAt>& curve, Goal goal) {
  double best = WorstOf(goal);
  for (const MeasuredAt& each : curve) {
    if (IsBetter(goal, each.value, best)) best = each.value;
  }
  return best;
}

// Whether its last point is the first measured one at or beyond a multiple of `boundary`.
bool IsAtBoundary(const std::vector<MeasuredAt>& curve, std::int64_t boundary) {
  const std::int64_t before = curve.size() < 2 ? 0 : curve[curve.size() - 2].point.step.value;
  return curve.back().point.step.value / boundary > before / boundary;
}

bool IsWorthless(const Laggard& trial) {
  if (!(trial.best_of_study > 0) || trial.best == trial.best_of_study) return false;
  return trial.goal == Goal::kMaximize ? trial.best * kWorth <= trial.best_of_study
                                       : trial.best >= trial.best_of_study * kWorth;
}

bool IsBehind(const Laggard& trial) {
  if (trial.best == trial.best_of_study) return false;
  return std::isnan(trial.last) || IsBetter(trial.goal, trial.best_of_study, trial.last);
}

class ReleaseLaggards : public Policy {
 public:
  explicit ReleaseLaggards(const LagRule& rule) : rule_(rule) {}

  std::string_view name() const override { return rule_.name; }
  Ranking ranking() const override { return Ranking::kLongest; }

  void Take(const PolicyEvent& event, const View& view) override {
    if (const auto* came = std::get_if<MetricsCame>(&event)) came_.push_back(*came);
    if (const auto* claimed = std::get_if<TrialClaimed>(&event)) TakeTrial(claimed->trial, view);
  }

  // Trials are judged once all that has happened is known.
  std::optional<Action> Decide(const View& view, Time) override {
    for (const auto& [study, came] : TakeMetrics(view)) Judge(study, came, view);
    if (decided_.empty()) return view.BestStart();
    Action next = std::move(decided_.back());
    decided_.pop_back();
    return next;
  }

 private:
  // Of a study whose trials may be released.
  struct Seen {
    double best = 0;
    std::map<PlanNodeId, Step> asked_for;  // of each node on its trials' ways the last step
  };

  struct Boundary {
    PolicyStudy study;
    MetricsCame came;
  };

  // What came since it was asked last: where it was measured at a boundary.
  std::vector<Boundary> TakeMetrics(const View& view) {
    std::vector<Boundary> boundaries;
    if (came_.empty()) return boundaries;
    const std::vector<PolicyStudy> studies = view.StudiesThatMayStop();
    std::erase_if(seen_, [&](const auto& entry) {
      return std::ranges::none_of(studies, [&](const PolicyStudy& study) { return study.id == entry.first; });
    });
    for (const MetricsCame& came : std::exchange(came_, {})) {
      for (const PolicyStudy& study : studies) {
        Seen& seen = SeenOf(study, view);
        const auto asked_for = seen.asked_for.find(came.point.node);
        if (asked_for == seen.asked_for.end() || came.point.step > asked_for->second) continue;
        const std::vector<MeasuredAt> curve = view.CurveTo(study.id, came.plan, came.point);
        if (curve.empty() || curve.back().point != came.point) continue;  // another evaluation's
        if (IsBetter(study.goal, curve.back().value, seen.best)) seen.best = curve.back().value;
        if (IsAtBoundary(curve, rule_.boundary)) boundaries.push_back({study, came});
      }
    }
    return boundaries;
  }

  void TakeTrial(TrialId id, const View& view) {
    const std::optional<PolicyTrial> trial = view.Trial(id);
    if (!trial) return;
    const auto seen = seen_.find(trial->study);
    if (seen == seen_.end()) return;  // found when it is needed
    for (const PolicyStudy& study : view.StudiesThatMayStop()) {
      if (study.id == trial->study) See(study, *trial, view, seen->second);
    }
  }

  // O(trials of the study x depth) where it is not known yet.
  Seen& SeenOf(const PolicyStudy& study, const View& view) {
    const auto [seen, is_new] = seen_.try_emplace(study.id);
    if (is_new) {
      seen->second.best = WorstOf(study.goal);
      for (const PolicyTrial& trial : view.TrialsOf(study.id)) See(study, trial, view, seen->second);
    }
    return seen->second;
  }

  static void See(const PolicyStudy& study, const PolicyTrial& trial, const View& view, Seen& seen) {
    for (const Point& last : view.WayTo(trial.plan, trial.furthest)) {
      Step& asked_for = seen.asked_for[last.node];
      asked_for = std::max(asked_for, last.step);
    }
    const double best = BestOn(view.CurveTo(study.id, trial.plan, trial.furthest), study.goal);
    if (IsBetter(study.goal, best, seen.best)) seen.best = best;
  }

  void Judge(const PolicyStudy& study, const MetricsCame& came, const View& view) {
    const std::vector<MeasuredAt> curve = view.CurveTo(study.id, came.plan, came.point);
    const Laggard trial{.best = BestOn(curve, study.goal),
                        .last = curve.back().value,
                        .best_of_study = SeenOf(study, view).best,
                        .goal = study.goal};
    if (!rule_.lags(trial)) return;
    const std::vector<PolicyTrial> waiting = view.WaitingFrom(came.plan, came.point);
    if (waiting.empty()) return;
    const PolicyTrial& longest =
        *std::ranges::max_element(waiting, {}, [](const PolicyTrial& each) { return each.furthest.step; });
    if (std::ranges::any_of(waiting, [&](const PolicyTrial& each) { return each.leaf != longest.leaf; })) return;
    // Where more is known of its way, that counts.
    if (view.CurveTo(study.id, came.plan, longest.furthest).back().point != came.point) return;
    for (const PolicyTrial& each : waiting) {
      if (each.study == study.id) Release(each.id, came.point.step, trial);
    }
  }

  // Actions are taken from the end.
  void Release(TrialId id, Step at, const Laggard& trial) {
    decided_.emplace_back(ReleaseTrial{id});
    decided_.emplace_back(LabelTrial{id, "released at step " + std::to_string(at.value) + ": its best was " +
                                             Print(Value(trial.best)) + ", its last " + Print(Value(trial.last)) +
                                             ", the best of its study " + Print(Value(trial.best_of_study))});
  }

  const LagRule rule_;
  std::map<StudyId, Seen> seen_;
  std::vector<MetricsCame> came_;  // since it was asked last
  std::vector<Action> decided_;
};

}  // namespace

const LagRule kBandit{.name = "bandit", .boundary = 10, .lags = IsWorthless};
const LagRule kEarlyTermLastValue{.name = "early_term_last_value", .boundary = 30, .lags = IsBehind};

std::unique_ptr<Policy> MakeReleaseLaggards(const LagRule& rule) { return std::make_unique<ReleaseLaggards>(rule); }

}  // namespace espalier
