#include "client/tuners/hyperband.h"

#include <algorithm>

#include "client/tuners/halving_bracket.h"

namespace espalier::tuners {
namespace {

class Hyperband : public Tuner {
 public:
  // `in_turn`: a bracket starts when a slot has nothing to do for those before it; else all start at once.
  Hyperband(std::vector<HalvingBracket> brackets, bool in_turn) : brackets_(std::move(brackets)), in_turn_(in_turn) {
    for (const HalvingBracket& bracket : brackets_) ends_.push_back(End() + bracket.trial_count());
  }

  std::vector<Action> Start() override {
    unfinished_ = brackets_.size();
    if (unfinished_ == 0) return {FinishStudy{}};
    std::vector<Action> actions = StartNext();
    while (!in_turn_ && started_ < brackets_.size()) {
      const std::vector<Action> more = StartNext();
      actions.insert(actions.end(), more.begin(), more.end());
    }
    return actions;
  }

  std::vector<Action> OnEvent(const Event& event) override {
    const auto* settled = std::get_if<ClaimOutcome>(&event);
    if (settled == nullptr) return in_turn_ ? StartNext() : std::vector<Action>();
    if (settled->trial >= End()) return {};
    const auto at = std::upper_bound(ends_.begin(), ends_.end(), settled->trial) - ends_.begin();
    HalvingBracket& bracket = brackets_[static_cast<std::size_t>(at)];
    if (bracket.finished()) return {};
    std::vector<Action> actions = bracket.OnSettled(*settled);
    if (!bracket.finished()) return actions;
    if (--unfinished_ == 0) {
      actions.emplace_back(FinishStudy{});
    } else {
      for (const std::size_t trial : bracket.Open()) actions.emplace_back(CloseTrial{trial});
    }
    return actions;
  }

  std::vector<StartTrial> WholeTrials() const override {
    std::vector<StartTrial> trials;
    for (const HalvingBracket& bracket : brackets_) {
      const std::vector<StartTrial> whole = bracket.WholeTrials();
      trials.insert(trials.end(), whole.begin(), whole.end());
    }
    return trials;
  }

  bool AsksForIdleSlots() const override { return in_turn_; }

 private:
  std::vector<Action> StartNext() {
    return started_ < brackets_.size() ? brackets_[started_++].Start() : std::vector<Action>();
  }

  std::size_t End() const { return ends_.empty() ? 0 : ends_.back(); }

  std::vector<HalvingBracket> brackets_;
  std::vector<std::size_t> ends_;  // of each, behind the index of its last trial
  bool in_turn_;
  std::size_t started_ = 0;
  std::size_t unfinished_ = 0;
};

Result<std::unique_ptr<Tuner>> MakeHyperband(const Options& options, Trials given) {
  ESPALIER_ASSIGN(const Step most, StepOption(options, "max", Step{1}));
  ESPALIER_ASSIGN(const std::int64_t reduction, WholeOption(options, "reduction", 2));
  const std::vector<BracketShape> shapes = HyperbandBrackets(most, reduction);
  std::vector<HalvingBracket> brackets;
  std::size_t first = 0;
  for (std::size_t i = 0; first < given.candidates.size(); ++i) {
    const BracketShape& shape = shapes[i % shapes.size()];
    const std::size_t count = std::min(shape.trial_count, given.candidates.size() - first);
    const auto begin = given.candidates.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<Candidate> taken(begin, begin + static_cast<std::ptrdiff_t>(count));
    brackets.emplace_back(Ladder(std::move(taken), shape.rungs, reduction), first, KeptByReduction(reduction));
    first += count;
  }
  return std::make_unique<Hyperband>(std::move(brackets), Learns(given));
}

}  // namespace

std::vector<BracketShape> HyperbandBrackets(Step most, std::int64_t reduction) {
  std::vector<std::int64_t> powers{1};  // of the reduction, up to `most`
  while (powers.back() <= most.value / reduction) powers.push_back(powers.back() * reduction);
  const auto bracket_count = static_cast<std::int64_t>(powers.size());
  std::vector<BracketShape> brackets;
  for (std::int64_t s = bracket_count - 1; s >= 0; --s) {
    BracketShape bracket;
    // Of 64 bits: most <= 2^53, and there are at most 53 brackets.
    const std::int64_t trials = (bracket_count * powers[static_cast<std::size_t>(s)] + s) / (s + 1);
    bracket.trial_count = static_cast<std::size_t>(trials);
    for (std::int64_t power = s; power >= 0; --power) {
      const Step rung{std::max<std::int64_t>(1, most.value / powers[static_cast<std::size_t>(power)])};
      bracket.rungs.push_back(rung);
    }
    brackets.push_back(std::move(bracket));
  }
  return brackets;
}

TunerKind HyperbandKind() {
  return {.name = "hyperband",
          .version = 1,
          .starting = Starting::kOneByOne,
          .option_names = {"max", "reduction"},
          .make = MakeHyperband};
}

}  // namespace espalier::tuners
