#include "client/tuners/asynchronous_halving.h"

#include <algorithm>
#include <optional>
#include <set>

#include "client/tuners/ladder.h"
#include "client/tuners/rungs.h"

namespace espalier::tuners {
namespace {

class AsynchronousHalving : public Tuner {
 public:
  AsynchronousHalving(Ladder ladder, std::size_t open_trials)
      : ladder_(std::move(ladder)), open_trials_(open_trials), rungs_(ladder_.rung_count()) {}

  std::vector<Action> Start() override { return FillUp(); }

  std::vector<Action> OnSettled(const ClaimOutcome& event) override {
    if (event.trial >= trials_.size()) return {};
    Place& place = trials_[event.trial];
    if (!place.unsettled || ladder_.ClaimAt(event.trial, place.rung) != event.steps) return {};
    place.unsettled = false;
    --unsettled_;
    Enter(event.trial, event.outcome);
    return FillUp();
  }

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

  void Enter(std::size_t trial, const Outcome& outcome) {
    Rung& rung = rungs_[trials_[trial].rung];
    const Entry entry{outcome, rung.entry_count++, trial};
    if (std::holds_alternative<Measured>(outcome)) rung.staying.insert(entry);
  }

  std::vector<Action> FillUp() {
    std::vector<Action> actions;
    while (unsettled_ < open_trials_ && (Promote(actions) || StartNext(actions))) {
    }
    if (unsettled_ == 0) actions.push_back(FinishStudy{});
    return actions;
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

  // The best one that stays: whatever ranks before it is promoted.
  std::optional<Entry> TakePromotable(Rung& rung) const {
    if (rung.staying.empty()) return std::nullopt;
    const auto best = rung.staying.begin();
    const auto place = std::lower_bound(rung.promoted.begin(), rung.promoted.end(), *best, Precedes{});
    const auto rank = static_cast<std::size_t>(place - rung.promoted.begin());
    if (rank >= rung.entry_count / static_cast<std::size_t>(ladder_.reduction())) return std::nullopt;
    rung.promoted.insert(place, *best);
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
  std::size_t open_trials_;
  std::vector<Rung> rungs_;
  std::vector<Place> trials_;  // that were started
  std::size_t unsettled_ = 0;
};

Result<std::unique_ptr<Tuner>> MakeAsynchronousHalving(const Options& options, std::vector<Candidate> candidates) {
  ESPALIER_ASSIGN(Ladder ladder, Ladder::From(options, std::move(candidates)));
  ESPALIER_ASSIGN(const std::int64_t open_trials, WholeOption(options, "open_trials", 1));
  return std::make_unique<AsynchronousHalving>(std::move(ladder), static_cast<std::size_t>(open_trials));
}

}  // namespace

TunerKind AsynchronousHalvingKind() {
  return {.name = "asha",
          .version = 1,
          .option_names = {"min", "max", "reduction", "open_trials"},
          .make = MakeAsynchronousHalving};
}

}  // namespace espalier::tuners
