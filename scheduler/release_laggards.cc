#include "scheduler/release_laggards.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "scheduler/label_text.h"
#include "searchplan/sequence/value.h"

namespace espalier {
namespace {

// HyperDrive 6.1.
constexpr double kWorth = 1.5;
constexpr double kHope = 0.05;  // less is none

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
  if (!(trial.best_of_study > 0)) return false;
  return trial.goal == Goal::kMaximize ? trial.best * kWorth <= trial.best_of_study
                                       : trial.best >= trial.best_of_study * kWorth;
}

// What is asked of a trial's curve, as its label says it.
struct Asked {
  std::int64_t step = 0;
  double target = 0;
};

std::string LabelFor(const Asked& asked) {
  std::string text = "asked at step ";
  AppendNumber(text, asked.step);
  text += " whether it reaches ";
  AppendNumber(text, asked.target);
  return text;
}

std::optional<Asked> AskedIn(std::string_view label) {
  Asked asked;
  const bool fits = LabelReader(label)
                        .Skip("asked at step ")
                        .Take(asked.step)
                        .Skip(" whether it reaches ")
                        .Take(asked.target)
                        .is_done();
  return fits ? std::optional(asked) : std::nullopt;
}

std::string Shown(double value) { return Print(Value(value)); }

class ReleaseLaggards : public Policy {
 public:
  explicit ReleaseLaggards(const LagRule& rule) : rule_(rule) {}

  std::string_view name() const override { return rule_.name; }
  Ranking ranking() const override { return Ranking::kLongest; }

  void Take(const PolicyEvent& event, const View& view) override {
    if (const auto* came = std::get_if<MetricsCame>(&event)) came_.push_back(*came);
    if (const auto* claimed = std::get_if<TrialClaimed>(&event)) TakeTrial(claimed->trial, view);
    if (const auto* analysed = std::get_if<CurveAnalysed>(&event)) analysed_.push_back(*analysed);
  }

  // Trials are judged once all that has happened is known.
  std::optional<Action> Decide(const View& view, Time) override {
    for (const auto& [study, came] : TakeMetrics(view)) Judge(study, came, view);
    for (const CurveAnalysed& answer : std::exchange(analysed_, {})) JudgeBy(answer, view);
    // Behind the labels of what is answered: else that would be asked again.
    if (decided_.empty() && !std::exchange(has_recalled_, true)) Recall(view);
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
    if (trial.best == trial.best_of_study || (rule_.lags != nullptr && !rule_.lags(trial))) return;
    const std::vector<PolicyTrial> alone = AloneFrom(came.plan, came.point, view);
    // Where more is known of its way, that counts.
    if (alone.empty() || view.CurveTo(study.id, came.plan, Longest(alone).furthest).back().point != came.point) return;
    if (rule_.lags != nullptr) {
      const std::string why = "its best was " + Shown(trial.best) + ", its last " + Shown(trial.last) +
                              ", the best of its study " + Shown(trial.best_of_study);
      return Release(study, alone, came.point.step, why);
    }
    const auto own = std::ranges::find(alone, study.id, &PolicyTrial::study);
    if (own != alone.end()) Ask(study, *own, {came.point.step.value, trial.best_of_study}, view);
  }

  // By the answer, on what is known now.
  void JudgeBy(const CurveAnalysed& answer, const View& view) {
    const std::optional<PolicyTrial> trial = view.Trial(answer.trial);
    const std::optional<PolicyStudy> study = trial ? StudyOf(*trial, view) : std::nullopt;
    if (!study) return;
    const double best = BestOn(view.CurveTo(study->id, trial->plan, trial->furthest), study->goal);
    const std::string says = "its chance to reach " + Shown(answer.target) + " is " + Shown(answer.chance);
    if (answer.chance < kHope && best != SeenOf(*study, view).best) {
      const std::vector<PolicyTrial> alone = AloneFrom(trial->plan, answer.at, view);
      if (!alone.empty()) return Release(*study, alone, answer.at.step, says);
    }
    if (view.IsAnalysed(trial->id)) return;  // further on: its label says so
    decided_.emplace_back(LabelTrial{trial->id, "at step " + std::to_string(answer.at.step.value) + " " + says});
  }

  // After a restart: what was asked is asked again.
  void Recall(const View& view) {
    for (const LabelTrial& label : view.LabelsOf(rule_.name)) {
      const std::optional<Asked> asked = AskedIn(label.text);
      if (!asked || view.IsAnalysed(label.trial)) continue;
      const std::optional<PolicyTrial> trial = view.Trial(label.trial);
      const std::optional<PolicyStudy> study = trial ? StudyOf(*trial, view) : std::nullopt;
      if (study) Ask(*study, *trial, *asked, view);
    }
  }

  // Its label first: what is asked is known from there after a restart. Actions are taken from the end.
  void Ask(const PolicyStudy& study, const PolicyTrial& trial, const Asked& asked, const View& view) {
    CurveQuestion question{
        .model = rule_.model, .trial = trial.id, .at = {}, .curve = {}, .target = asked.target, .goal = study.goal};
    for (const MeasuredAt& each : view.CurveTo(study.id, trial.plan, trial.furthest)) {
      if (each.point.step > Step{asked.step}) break;
      question.at = each.point;
      question.curve.push_back(each.value);
    }
    if (question.curve.empty()) return;
    decided_.emplace_back(AnalyseCurve{std::move(question)});
    decided_.emplace_back(LabelTrial{trial.id, LabelFor(asked)});
  }

  // None: policies may not stop its trials, or it is finished.
  static std::optional<PolicyStudy> StudyOf(const PolicyTrial& trial, const View& view) {
    for (const PolicyStudy& study : view.StudiesThatMayStop()) {
      if (study.id == trial.study) return study;
    }
    return std::nullopt;
  }

  static const PolicyTrial& Longest(const std::vector<PolicyTrial>& trials) {
    return *std::ranges::max_element(trials, {}, [](const PolicyTrial& each) { return each.furthest.step; });
  }

  // Those that wait there or behind it, if they all train the same; else nobody.
  static std::vector<PolicyTrial> AloneFrom(PlanId plan, Point point, const View& view) {
    std::vector<PolicyTrial> waiting = view.WaitingFrom(plan, point);
    if (waiting.empty()) return waiting;
    const PlanNodeId leaf = Longest(waiting).leaf;
    if (std::ranges::any_of(waiting, [&](const PolicyTrial& each) { return each.leaf != leaf; })) waiting.clear();
    return waiting;
  }

  // Those of the study. Actions are taken from the end.
  void Release(const PolicyStudy& study, const std::vector<PolicyTrial>& trials, Step at, const std::string& why) {
    for (const PolicyTrial& each : trials) {
      if (each.study != study.id) continue;
      decided_.emplace_back(ReleaseTrial{each.id});
      decided_.emplace_back(LabelTrial{each.id, "released at step " + std::to_string(at.value) + ": " + why});
    }
  }

  const LagRule rule_;
  std::map<StudyId, Seen> seen_;
  std::vector<MetricsCame> came_;        // since it was asked last
  std::vector<CurveAnalysed> analysed_;  // likewise
  bool has_recalled_ = false;
  std::vector<Action> decided_;
};

}  // namespace

const LagRule kBandit{.name = "bandit", .boundary = 10, .lags = IsWorthless};
const LagRule kEarlyTermLastValue{.name = "early_term_last_value", .boundary = 30};

std::unique_ptr<Policy> MakeReleaseLaggards(const LagRule& rule) { return std::make_unique<ReleaseLaggards>(rule); }

}  // namespace espalier
