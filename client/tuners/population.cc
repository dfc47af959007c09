#include "client/tuners/population.h"

#include <algorithm>
#include <cmath>

#include "client/space/drawing.h"
#include "client/space/ranges.h"
#include "client/tuners/rungs.h"

namespace espalier::tuners {
namespace {

constexpr double kFactors[] = {0.8, 1.2};

// What is changed on the way: one range or choice, or several values.
struct Tuned {
  std::string name;
  std::vector<Expression> items;
};

// A hyper-parameter's values, each from its step on; neighbours differ.
using History = std::vector<std::pair<Step, Value>>;

std::string InNotation(const History& history) {
  if (history.size() == 1) return Print(history.front().second);
  std::string values;
  std::string steps;
  for (const auto& [step, value] : history) {
    values += (values.empty() ? "" : ", ") + Print(value);
    if (step > Step{0}) steps += (steps.empty() ? "" : ", ") + std::to_string(step.value);
  }
  return "Piecewise([" + values + "], [" + steps + "])";
}

struct PopulationRules {
  Step steps;
  Step interval;
  double quantile = 0;
  double resample = 0;
  std::int64_t seed = 0;
};

class Population : public Tuner {
 public:
  // REQUIRES: each candidate has a plain value for each of `tuned`.
  Population(std::vector<Tuned> tuned, TrialText fixed, std::vector<Candidate> candidates, const PopulationRules& rules)
      : tuned_(std::move(tuned)), fixed_(std::move(fixed)), candidates_(std::move(candidates)), rules_(rules) {}

  std::vector<Action> Start() override {
    std::vector<Action> actions;
    for (const Candidate& candidate : candidates_) {
      Member& member = members_.emplace_back();
      for (const Tuned& tuned : tuned_) {
        member.histories.push_back({{Step{0}, ValueOf(candidate.sequences.at(tuned.name))}});
      }
      StartTrialOf(members_.size() - 1, actions);
    }
    return AndFinish(std::move(actions));
  }

  std::vector<Action> OnEvent(const Event& event) override {
    const auto* const settled = std::get_if<ClaimOutcome>(&event);
    if (settled == nullptr || settled->trial >= member_of_.size()) return {};
    const std::size_t at = member_of_[settled->trial];
    Member& member = members_[at];
    if (member.ended || member.trial != settled->trial || settled->steps != NextLook(member.reached)) return {};
    member.latest = settled->outcome;
    member.reached = settled->steps;
    std::vector<Action> actions;
    if (std::holds_alternative<Cancelled>(settled->outcome)) {
      member.ended = true;
    } else {
      LookAt(at, actions);
    }
    return AndFinish(std::move(actions));
  }

  std::vector<StartTrial> WholeTrials() const override {
    std::vector<StartTrial> trials;
    for (const Candidate& candidate : candidates_) {
      trials.push_back({.sequences = candidate.sequences, .steps = rules_.steps, .horizon = rules_.steps});
    }
    return trials;
  }

  bool KnowsItsTrials() const override { return false; }

 private:
  struct Member {
    std::vector<History> histories;  // of what is tuned
    std::size_t trial = 0;           // the present one
    Step reached{0};                 // the last look, or where it was copied
    std::optional<Outcome> latest;   // there
    bool ended = false;
  };

  static Value ValueOf(const std::string& text) { return std::get<Value>(ParseExpression(text).value().form); }

  Step NextLook(Step reached) const { return std::min(rules_.steps, Step{reached.value + rules_.interval.value}); }

  void StartTrialOf(std::size_t at, std::vector<Action>& actions) {
    Member& member = members_[at];
    member.trial = member_of_.size();
    member_of_.push_back(at);
    StartTrial start{.sequences = fixed_, .steps = NextLook(member.reached), .horizon = rules_.steps};
    for (std::size_t i = 0; i < tuned_.size(); ++i) start.sequences[tuned_[i].name] = InNotation(member.histories[i]);
    actions.emplace_back(std::move(start));
  }

  void LookAt(std::size_t at, std::vector<Action>& actions) {
    Member& member = members_[at];
    std::size_t number = 0;
    const auto next = [&, trial = member_of_.size()] { return UnitNumber(rules_.seed, trial, number++); };
    const bool is_at_its_end = member.reached == rules_.steps;
    if (const auto donor = is_at_its_end ? std::nullopt : DonorOf(at, next)) {
      actions.emplace_back(CloseTrial{member.trial});
      Copy(members_[*donor], member, next);
      StartTrialOf(at, actions);
    } else if (is_at_its_end || !std::holds_alternative<Measured>(*member.latest)) {
      member.ended = true;
      actions.emplace_back(CloseTrial{member.trial});
    } else {
      actions.emplace_back(ContinueTrial{member.trial, NextLook(member.reached)});
    }
  }

  // Whom the member copies, if it does.
  std::optional<std::size_t> DonorOf(std::size_t at, const NextNumber& next) const {
    std::vector<std::size_t> ranked;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].latest) ranked.push_back(i);
    }
    std::ranges::stable_sort(ranked, Better, [&](std::size_t i) { return *members_[i].latest; });
    const double share = std::ceil(rules_.quantile * static_cast<double>(ranked.size()));
    const std::size_t count = std::min(static_cast<std::size_t>(share), (ranked.size() - 1) / 2);
    const auto worst = ranked.end() - static_cast<std::ptrdiff_t>(count);
    const bool failed = !std::holds_alternative<Measured>(*members_[at].latest);
    if (count == 0 || (!failed && std::find(worst, ranked.end(), at) == ranked.end())) return std::nullopt;
    const std::size_t donor = ranked[ChosenOf(count, next())];
    const bool has_a_state = std::holds_alternative<Measured>(*members_[donor].latest);
    return donor != at && has_a_state ? std::optional(donor) : std::nullopt;
  }

  void Copy(const Member& donor, Member& member, const NextNumber& next) const {
    const Step last_look{(rules_.steps.value - 1) / rules_.interval.value * rules_.interval.value};
    member.reached = std::min(donor.reached, last_look);
    member.latest = donor.latest;
    member.histories = donor.histories;
    for (std::size_t i = 0; i < tuned_.size(); ++i) {
      History& history = member.histories[i];
      std::erase_if(history, [&](const auto& piece) { return piece.first > Step{0} && piece.first >= member.reached; });
      const Value changed = Changed(tuned_[i], history.back().second, next);
      if (changed != history.back().second) history.emplace_back(member.reached, changed);
    }
  }

  Value Changed(const Tuned& tuned, const Value& value, const NextNumber& next) const {
    if (next() < rules_.resample) {
      const Expression& item = tuned.items[tuned.items.size() > 1 ? ChosenOf(tuned.items.size(), next()) : 0];
      return std::get<Value>(Drawn(item, next).form);
    }
    if (!IsNumberRange(tuned.items.front())) return value;
    return Scaled(tuned.items.front(), value, kFactors[ChosenOf(std::size(kFactors), next())]);
  }

  std::vector<Action> AndFinish(std::vector<Action> actions) {
    if (finished_ || !std::ranges::all_of(members_, &Member::ended)) return actions;
    finished_ = true;
    actions.emplace_back(FinishStudy{});
    return actions;
  }

  const std::vector<Tuned> tuned_;
  const TrialText fixed_;                    // what is not tuned
  const std::vector<Candidate> candidates_;  // the first trials
  const PopulationRules rules_;
  std::vector<Member> members_;
  std::vector<std::size_t> member_of_;  // by trial
  bool finished_ = false;
};

bool IsPlain(const Expression& expression) { return std::holds_alternative<Value>(expression.form); }

// A value, one range of numbers, or a choice of values.
bool IsOfValues(const Expression& expression) {
  if (IsPlain(expression) || IsNumberRange(expression)) return true;
  if (RangesOf(expression).size() != 1 || std::get<Call>(expression.form).family != "choice") return false;
  return std::ranges::all_of(std::get<Call>(expression.form).arguments, [](const Argument& argument) {
    const auto* const item = std::get_if<Expression>(&argument.value);
    return item != nullptr && IsPlain(*item);
  });
}

Result<std::vector<Tuned>> TunedOf(const SearchSpace& space) {
  std::vector<Tuned> all;
  for (const auto& [name, texts] : space.lists) {
    Tuned& tuned = all.emplace_back(Tuned{name, {}});
    for (const std::string& text : texts) {
      ESPALIER_ASSIGN(tuned.items.emplace_back(), ParseExpression(text));
      const bool fits = texts.size() > 1 ? IsPlain(tuned.items.back()) : IsOfValues(tuned.items.back());
      if (fits) continue;
      return MakeError(ErrorCode::kInvalidArgument,
                       "got " + text +
                           "; expected several values, one range of numbers, or one choice of values: pbt "
                           "changes them on the way",
                       "hyper_parameters." + name);
    }
  }
  return all;
}

Result<std::unique_ptr<Tuner>> MakePopulation(const Options& options, Trials given) {
  PopulationRules rules;
  ESPALIER_ASSIGN(rules.steps, StepOption(options, "steps", Step{1}));
  ESPALIER_ASSIGN(rules.interval, StepOption(options, "interval", Step{1}));
  ESPALIER_ASSIGN(rules.quantile, ShareOption(options, "quantile", 0.25));
  ESPALIER_ASSIGN(rules.resample, ShareOption(options, "resample", 0.25));
  rules.seed = given.sampling ? given.sampling->seed : 0;
  if (given.from_space < given.candidates.size()) {
    return MakeError(ErrorCode::kInvalidArgument, "got a trial; expected none: pbt draws all that it begins with",
                     "trials[0]");
  }
  if (!given.space.conditions.empty()) {
    return MakeError(ErrorCode::kInvalidArgument, "got a condition; expected none: pbt changes values on the way",
                     "only_if." + given.space.conditions.front().of);
  }
  ESPALIER_ASSIGN(std::vector<Tuned> tuned, TunedOf(given.space));
  return std::make_unique<Population>(std::move(tuned), std::move(given.space.fixed), std::move(given.candidates),
                                      rules);
}

}  // namespace

TunerKind PbtKind() {
  return {.name = "pbt",
          .version = 1,
          .candidates = CandidateSource::kDrawn,
          .option_names = {"steps", "interval", "quantile", "resample"},
          .make = MakePopulation};
}

}  // namespace espalier::tuners
