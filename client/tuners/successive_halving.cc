#include "client/tuners/successive_halving.h"

#include <algorithm>
#include <optional>

#include "client/tuners/ladder.h"
#include "client/tuners/rungs.h"

namespace espalier::tuners {
namespace {

// Invariant: pending_ = entries of the rung without an outcome; a rung is decided as a whole when it is 0, so the
// decision does not depend on the order in which its claims were settled.
class SuccessiveHalving : public Tuner {
 public:
  explicit SuccessiveHalving(Ladder ladder) : ladder_(std::move(ladder)) {}

  std::vector<Action> Start() override {
    std::vector<Action> actions;
    for (std::size_t trial = 0; trial < ladder_.candidate_count(); ++trial) {
      actions.push_back(ladder_.Start(trial));
      entries_.push_back(Entry{.trial = trial, .steps = ladder_.ClaimAt(trial, 0), .outcome = std::nullopt});
    }
    pending_ = entries_.size();
    if (pending_ == 0) Append(actions, Decide());
    return actions;
  }

  std::vector<Action> OnEvent(const Event& event) override {
    const auto* settled = std::get_if<ClaimOutcome>(&event);
    return settled == nullptr ? std::vector<Action>{} : OnSettled(*settled);
  }

  std::vector<StartTrial> WholeTrials() const override { return ladder_.WholeTrials(); }

 private:
  struct Entry {
    std::size_t trial = 0;
    Step steps;
    std::optional<Outcome> outcome;
  };

  std::vector<Action> OnSettled(const ClaimOutcome& event) {
    const auto entry = std::lower_bound(entries_.begin(), entries_.end(), event.trial,
                                        [](const Entry& e, std::size_t trial) { return e.trial < trial; });
    if (entry == entries_.end() || entry->trial != event.trial || entry->steps != event.steps ||
        entry->outcome.has_value()) {
      return {};
    }
    entry->outcome = event.outcome;
    --pending_;
    return pending_ == 0 ? Decide() : std::vector<Action>{};
  }

  static void Append(std::vector<Action>& actions, std::vector<Action> more) {
    actions.insert(actions.end(), more.begin(), more.end());
  }

  // The entries that go on, by order of submission. REQUIRES: every entry has an outcome.
  std::vector<Entry> Survivors() const {
    std::vector<Entry> ranked = entries_;
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const Entry& a, const Entry& b) { return Better(*a.outcome, *b.outcome); });
    const auto reduction = static_cast<std::size_t>(ladder_.reduction());
    ranked.resize(std::min(ranked.size(), std::max<std::size_t>(1, ranked.size() / reduction)));
    std::erase_if(ranked, [](const Entry& entry) { return !std::holds_alternative<Measured>(*entry.outcome); });
    std::sort(ranked.begin(), ranked.end(), [](const Entry& a, const Entry& b) { return a.trial < b.trial; });
    return ranked;
  }

  std::vector<Action> Decide() {
    std::vector<Action> actions;
    while (pending_ == 0) {
      if (rung_ + 1 == ladder_.rung_count() || entries_.empty()) return Finished(std::move(actions));
      std::vector<Entry> survivors = Survivors();
      if (survivors.empty()) return Finished(std::move(actions));
      Close(survivors, actions);
      EnterNextRung(std::move(survivors), actions);
    }
    return actions;
  }

  std::vector<Action> Finished(std::vector<Action> actions) {
    entries_.clear();
    actions.push_back(FinishStudy{});
    return actions;
  }

  // Closes what does not go on, but for cancelled trials: they are closed already. REQUIRES: survivors by submission.
  void Close(const std::vector<Entry>& survivors, std::vector<Action>& actions) const {
    auto survivor = survivors.begin();
    for (const Entry& entry : entries_) {
      if (survivor != survivors.end() && survivor->trial == entry.trial) {
        ++survivor;
      } else if (!std::holds_alternative<Cancelled>(*entry.outcome)) {
        actions.push_back(CloseTrial{entry.trial});
      }
    }
  }

  void EnterNextRung(std::vector<Entry> survivors, std::vector<Action>& actions) {
    ++rung_;
    entries_ = std::move(survivors);
    for (Entry& entry : entries_) {
      const Step steps = ladder_.ClaimAt(entry.trial, rung_);
      if (steps == entry.steps) continue;  // at its own horizon: what it reached stands
      entry.steps = steps;
      entry.outcome.reset();
      ++pending_;
      actions.push_back(ContinueTrial{entry.trial, steps});
    }
  }

  Ladder ladder_;
  std::size_t rung_ = 0;
  std::vector<Entry> entries_;  // of the current rung, by order of submission
  std::size_t pending_ = 0;
};

Result<std::unique_ptr<Tuner>> MakeSuccessiveHalving(const Options& options, std::vector<Candidate> candidates) {
  ESPALIER_ASSIGN(Ladder ladder, Ladder::From(options, std::move(candidates)));
  return std::make_unique<SuccessiveHalving>(std::move(ladder));
}

}  // namespace

TunerKind SuccessiveHalvingKind() {
  return {.name = "sha", .version = 1, .option_names = {"min", "max", "reduction"}, .make = MakeSuccessiveHalving};
}

}  // namespace espalier::tuners
