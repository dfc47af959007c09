#include "client/tuners/asynchronous_halving.h"

#include <algorithm>
#include <optional>
#include <set>

#include "client/tuners/ladder.h"
#include "client/tuners/marginal_steps.h"
#include "client/tuners/rungs.h"
#include "client/tuners/stopping_halving.h"

namespace espalier::tuners {
namespace {

class AsynchronousHalving : public Tuner {
 public:
  // `open_trials`: how many have an unsettled claim; none: as many as idle slots ask for.
  AsynchronousHalving(Ladder ladder, std::optional<std::size_t> open_trials, bool merge_aware)
      : ladder_(std::move(ladder)), open_trials_(open_trials), rungs_(ladder_.rung_count()) {
    if (merge_aware) marginal_.emplace(ladder_.WholeTrials());
    for (std::size_t candidate = 0; candidate < ladder_.candidate_count(); ++candidate) {
      known_costs_.push_back(CostOf(candidate, 0));
      not_started_.emplace(known_costs_.back(), candidate);
    }
  }

  std::vector<Action> Start() override { return GoOn(); }

  std::vector<Action> OnEvent(const Event& event) override {
    if (const auto* settled = std::get_if<ClaimOutcome>(&event)) {
      Settle(*settled);
      return GoOn();
    }
    std::vector<Action> actions;
    if (!open_trials_ && DoNext(actions)) return actions;
    return FinishIfDone();
  }

  bool AsksForIdleSlots() const override { return !open_trials_; }

  std::vector<StartTrial> WholeTrials() const override { return ladder_.WholeTrials(); }

 private:
  // Where a started trial stands.
  struct Place {
    std::size_t candidate = 0;
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
  using Staying = std::set<Entry, Precedes>::iterator;
  // What may be promoted, and what that costs.
  struct Promotion {
    std::size_t rung = 0;
    Staying entry;
    std::int64_t cost = 0;
  };

  void Settle(const ClaimOutcome& event) {
    if (event.trial >= trials_.size()) return;
    Place& place = trials_[event.trial];
    if (!place.unsettled || ladder_.ClaimAt(place.candidate, place.rung) != event.steps) return;
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
    while (open_trials_ && unsettled_ < *open_trials_ && DoNext(actions)) {
    }
    return actions.empty() ? FinishIfDone() : actions;
  }

  std::vector<Action> FinishIfDone() {
    if (finished_ || unsettled_ > 0 || !not_started_.empty() || AnyPromotable()) return {};
    finished_ = true;
    return {FinishStudy{}};
  }

  bool AnyPromotable() const {
    return std::any_of(rungs_.begin(), rungs_.end() - 1, [&](const Rung& rung) { return IsPromotable(rung); });
  }

  // One trial goes on, or starts, which comes first only if it is cheaper. False: there is nothing to do.
  bool DoNext(std::vector<Action>& actions) {
    const std::optional<Promotion> next = NextPromotion();
    const bool is_cheaper = next && !not_started_.empty() && marginal_ && not_started_.begin()->first < next->cost;
    if (!next || is_cheaper) return StartNext(actions);
    Promote(*next, actions);
    return true;
  }

  void Promote(const Promotion& next, std::vector<Action>& actions) {
    Rung& rung = rungs_[next.rung];
    rung.promoted.insert(rung.promoted.begin() + PromotedBefore(rung, *next.entry), *next.entry);
    GoOn(rung.staying.extract(next.entry).value(), actions);
  }

  // How many of those that were promoted rank before one that stays.
  static std::ptrdiff_t PromotedBefore(const Rung& rung, const Entry& entry) {
    return std::lower_bound(rung.promoted.begin(), rung.promoted.end(), entry, Precedes{}) - rung.promoted.begin();
  }

  // Those that stay though they are among the best; the best first, and none but the first unless costs matter.
  std::vector<Staying> Promotable(const Rung& rung) const {
    const std::size_t count = rung.entry_count / static_cast<std::size_t>(ladder_.reduction());
    std::vector<Staying> promotable;
    for (auto entry = rung.staying.begin(); entry != rung.staying.end(); ++entry) {
      const auto rank = static_cast<std::size_t>(PromotedBefore(rung, *entry)) + promotable.size();
      if (rank >= count || (!marginal_ && !promotable.empty())) break;
      promotable.push_back(entry);
    }
    return promotable;
  }

  bool IsPromotable(const Rung& rung) const { return !Promotable(rung).empty(); }

  // On the highest rung that has some, the cheapest; of equals the best.
  std::optional<Promotion> NextPromotion() const {
    for (std::size_t rung = rungs_.size() - 1; rung-- > 0;) {
      std::optional<Promotion> next;
      for (const Staying entry : Promotable(rungs_[rung])) {
        const std::int64_t cost = CostOf(trials_[entry->trial].candidate, rung + 1);
        if (!next || cost < next->cost) next = Promotion{rung, entry, cost};
      }
      if (next) return next;
    }
    return std::nullopt;
  }

  // Of a claim at the rung; nothing unless costs matter.
  std::int64_t CostOf(std::size_t candidate, std::size_t rung) const {
    return marginal_ ? marginal_->Of(candidate, ladder_.ClaimAt(candidate, rung)) : 0;
  }

  // What is asked for makes others cheaper.
  void Ask(std::size_t candidate, Step steps) {
    if (!marginal_) return;
    for (const std::size_t other : marginal_->Ask(candidate, steps)) {
      if (not_started_.erase({known_costs_[other], other}) == 0) continue;
      known_costs_[other] = CostOf(other, 0);
      not_started_.emplace(known_costs_[other], other);
    }
  }

  void GoOn(const Entry& entry, std::vector<Action>& actions) {
    Place& place = trials_[entry.trial];
    const Step reached = ladder_.ClaimAt(place.candidate, place.rung);
    ++place.rung;
    const Step steps = ladder_.ClaimAt(place.candidate, place.rung);
    if (steps == reached) return Enter(entry.trial, entry.outcome);  // at its own horizon: what it reached stands
    place.unsettled = true;
    ++unsettled_;
    Ask(place.candidate, steps);
    actions.push_back(ContinueTrial{entry.trial, steps});
  }

  bool StartNext(std::vector<Action>& actions) {
    if (not_started_.empty()) return false;
    const std::size_t candidate = not_started_.extract(not_started_.begin()).value().second;
    actions.push_back(ladder_.Start(candidate));
    trials_.push_back({.candidate = candidate});
    ++unsettled_;
    Ask(candidate, ladder_.ClaimAt(candidate, 0));
    return true;
  }

  Ladder ladder_;
  std::optional<std::size_t> open_trials_;
  std::vector<Rung> rungs_;
  std::optional<MarginalSteps> marginal_;                       // none: costs do not matter
  std::set<std::pair<std::int64_t, std::size_t>> not_started_;  // candidates, the cheapest first, then in their order
  std::vector<std::int64_t> known_costs_;                       // of candidates, by which they stand there
  std::vector<Place> trials_;                                   // that were started
  std::size_t unsettled_ = 0;
  bool finished_ = false;
};

Result<std::unique_ptr<Tuner>> MakeAsynchronousHalving(const Options& options, Trials given) {
  const bool is_drawn_late = Learns(given);
  ESPALIER_ASSIGN(Ladder ladder, Ladder::From(options, std::move(given.candidates)));
  ESPALIER_ASSIGN(const std::optional<std::size_t> open_trials, OpenTrialsOption(options));
  ESPALIER_ASSIGN(const bool by_stopping, FlagOption(options, "stopping"));
  ESPALIER_ASSIGN(const bool merge_aware, FlagOption(options, "merge_aware"));
  if (merge_aware && by_stopping) {
    return MakeError(ErrorCode::kInvalidArgument, "goes with promotion; leave stopping out", "merge_aware");
  }
  if (merge_aware && is_drawn_late) {
    return MakeError(ErrorCode::kInvalidArgument, "what tpe will draw has no costs yet; choose another sampling",
                     "merge_aware");
  }
  if (by_stopping) return MakeStoppingHalving(ladder, open_trials);
  return std::make_unique<AsynchronousHalving>(std::move(ladder), open_trials, merge_aware);
}

}  // namespace

TunerKind AsynchronousHalvingKind() {
  return {.name = "asha",
          .version = 1,
          .starting = Starting::kOneByOne,
          .option_names = {"min", "max", "reduction", "open_trials", "stopping", "merge_aware"},
          .make = MakeAsynchronousHalving};
}

}  // namespace espalier::tuners
