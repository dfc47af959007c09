#include "client/tuners/asynchronous_halving.h"

#include <algorithm>
#include <optional>
#include <set>

#include "client/tuners/ladder.h"
#include "client/tuners/rungs.h"
#include "client/tuners/stopping_halving.h"

namespace espalier::tuners {
namespace {

class AsynchronousHalving : public Tuner {
 public:
  // `open_trials`: how many have an unsettled claim; none: as many as idle slots ask for.
  AsynchronousHalving(Ladder ladder, std::optional<std::size_t> open_trials)
      : ladder_(std::move(ladder)), open_trials_(open_trials), rungs_(ladder_.rung_count()) {}

  std::vector<Action> Start() override { return GoOn(); }

  std::vector<Action> OnEvent(const Event& event) override {
    if (const auto* settled = std::get_if<ClaimOutcome>(&event)) {
      Settle(*settled);
      return GoOn();
    }
    std::vector<Action> actions;
    if (!open_trials_ && (Promote(actions) || StartNext(actions))) return actions;
    return FinishIfDone();
  }

  bool AsksForIdleSlots() const override { return !open_trials_; }

  std::vector<StartTrial> WholeTrials() const override { return ladder_.WholeTrials(); }

 private:
  // Where a started trial stands.
  struct Place {
    std::size_t rung = 0;
    bool unsettled = true;  // its claim at the rung
  };
  struct Entry {
    Outcome outcome;
    std::size_t order = 0;  // of entry into the rung
    std::size_t trial = 0;
  };
  struct Precedes {
    bool operator()(const Entry& a, const Entry& b) const {
      if (Better(a.outcome, b.outcome)) return true;
      return !Better(b.outcome, a.outcome) && a.order < b.order;
    }
  };
  struct Rung {
    std::size_t entry_count = 0;
    std::set<Entry, Precedes> staying;  // that have a result and were not promoted; the best first
    std::vector<Entry> promoted;        // the best first
  };

  void Settle(const ClaimOutcome& event) {
    if (event.trial >= trials_.size()) return;
    Place& place = trials_[event.trial];
    if (!place.unsettled || ladder_.ClaimAt(event.trial, place.rung) != event.steps) return;
    place.unsettled = false;
    --unsettled_;
    Enter(event.trial, event.outcome);
  }

  void Enter(std::size_t trial, const Outcome& outcome) {
    Rung& rung = rungs_[trials_[trial].rung];
    const Entry entry{outcome, rung.entry_count++, trial};
    if (std::holds_alternative<Measured>(outcome)) rung.staying.insert(entry);
  }

  // What is to be done without being asked.
  std::vector<Action> GoOn() {
    std::vector<Action> actions;
    while (open_trials_ && unsettled_ < *open_trials_ && (Promote(actions) || StartNext(actions))) {
    }
    return actions.empty() ? FinishIfDone() : actions;
  }

  std::vector<Action> FinishIfDone() {
    if (finished_ || unsettled_ > 0 || trials_.size() < ladder_.candidate_count() || AnyPromotable()) return {};
    finished_ = true;
    return {FinishStudy{}};
  }

  bool AnyPromotable() const {
    return std::any_of(rungs_.begin(), rungs_.end() - 1, [&](const Rung& rung) { return IsPromotable(rung); });
  }

  bool Promote(std::vector<Action>& actions) {
    for (std::size_t rung = rungs_.size() - 1; rung-- > 0;) {
      if (const auto entry = TakePromotable(rungs_[rung])) {
        GoOn(*entry, actions);
        return true;
      }
    }
    return false;
  }

  // How many of those that were promoted rank before the best one that stays. REQUIRES: some stay.
  static std::ptrdiff_t RankOfBest(const Rung& rung) {
    const Entry& best = *rung.staying.begin();
    return std::lower_bound(rung.promoted.begin(), rung.promoted.end(), best, Precedes{}) - rung.promoted.begin();
  }

  // Whether the best one that stays is: whatever ranks before it is promoted.
  bool IsPromotable(const Rung& rung) const {
    if (rung.staying.empty()) return false;
    return static_cast<std::size_t>(RankOfBest(rung)) <
           rung.entry_count / static_cast<std::size_t>(ladder_.reduction());
  }

  std::optional<Entry> TakePromotable(Rung& rung) const {
    if (!IsPromotable(rung)) return std::nullopt;
    const auto best = rung.staying.begin();
    rung.promoted.insert(rung.promoted.begin() + RankOfBest(rung), *best);
    return rung.staying.extract(best).value();
  }

  void GoOn(const Entry& entry, std::vector<Action>& actions) {
    Place& place = trials_[entry.trial];
    const Step reached = ladder_.ClaimAt(entry.trial, place.rung);
    ++place.rung;
    const Step steps = ladder_.ClaimAt(entry.trial, place.rung);
    if (steps == reached) return Enter(entry.trial, entry.outcome);  // at its own horizon: what it reached stands
    place.unsettled = true;
    ++unsettled_;
    actions.push_back(ContinueTrial{entry.trial, steps});
  }

  bool StartNext(std::vector<Action>& actions) {
    if (trials_.size() == ladder_.candidate_count()) return false;
    actions.push_back(ladder_.Start(trials_.size()));
    trials_.emplace_back();
    ++unsettled_;
    return true;
  }

  Ladder ladder_;
  std::optional<std::size_t> open_trials_;
  std::vector<Rung> rungs_;
  std::vector<Place> trials_;  // that were started
  std::size_t unsettled_ = 0;
  bool finished_ = false;
};

Result<std::unique_ptr<Tuner>> MakeAsynchronousHalving(const Options& options, Trials given) {
  ESPALIER_ASSIGN(Ladder ladder, Ladder::From(options, std::move(given.candidates)));
  ESPALIER_ASSIGN(const std::optional<std::size_t> open_trials, OpenTrialsOption(options));
  ESPALIER_ASSIGN(const bool by_stopping, FlagOption(options, "stopping"));
  if (by_stopping) return MakeStoppingHalving(ladder, open_trials);
  return std::make_unique<AsynchronousHalving>(std::move(ladder), open_trials);
}

}  // namespace

TunerKind AsynchronousHalvingKind() {
  return {.name = "asha",
          .version = 1,
          .starting = Starting::kOneByOne,
          .option_names = {"min", "max", "reduction", "open_trials", "stopping"},
          .make = MakeAsynchronousHalving};
}

}  // namespace espalier::tuners
