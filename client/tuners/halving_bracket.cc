#include "client/tuners/halving_bracket.h"

#include <algorithm>

#include "client/tuners/rungs.h"

namespace espalier::tuners {

KeptCount KeptByReduction(std::int64_t reduction) {
  return [reduction](std::size_t, std::size_t entry_count) {
    return std::max<std::size_t>(1, entry_count / static_cast<std::size_t>(reduction));
  };
}

std::vector<Action> HalvingBracket::Start() {
  std::vector<Action> actions;
  for (std::size_t trial = 0; trial < ladder_.candidate_count(); ++trial) {
    actions.push_back(ladder_.Start(trial));
    entries_.push_back(Entry{.trial = trial, .steps = ladder_.ClaimAt(trial, 0), .outcome = std::nullopt});
  }
  pending_ = entries_.size();
  finished_ = pending_ == 0;
  return actions;
}

std::vector<Action> HalvingBracket::OnSettled(const ClaimOutcome& event) {
  if (finished_ || event.trial < first_) return {};
  const std::size_t trial = event.trial - first_;
  const auto entry = std::lower_bound(entries_.begin(), entries_.end(), trial,
                                      [](const Entry& each, std::size_t wanted) { return each.trial < wanted; });
  if (entry == entries_.end() || entry->trial != trial || entry->steps != event.steps || entry->outcome.has_value()) {
    return {};
  }
  entry->outcome = event.outcome;
  --pending_;
  std::vector<Action> actions;
  if (pending_ == 0) Decide(actions);
  return actions;
}

std::vector<std::size_t> HalvingBracket::Open() const {
  std::vector<std::size_t> open;
  for (const Entry& entry : entries_) {
    if (!std::holds_alternative<Cancelled>(*entry.outcome)) open.push_back(first_ + entry.trial);
  }
  return open;
}

// REQUIRES: every entry has an outcome.
std::vector<HalvingBracket::Entry> HalvingBracket::Survivors() const {
  std::vector<Entry> ranked = entries_;
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Entry& a, const Entry& b) { return Better(*a.outcome, *b.outcome); });
  ranked.resize(std::min(ranked.size(), kept_count_(rung_, ranked.size())));
  std::erase_if(ranked, [](const Entry& entry) { return !std::holds_alternative<Measured>(*entry.outcome); });
  std::sort(ranked.begin(), ranked.end(), [](const Entry& a, const Entry& b) { return a.trial < b.trial; });
  return ranked;
}

void HalvingBracket::Decide(std::vector<Action>& actions) {
  while (pending_ == 0) {
    std::vector<Entry> survivors = rung_ + 1 == ladder_.rung_count() ? std::vector<Entry>() : Survivors();
    finished_ = survivors.empty();
    if (finished_) return;
    Close(survivors, actions);
    EnterNextRung(std::move(survivors), actions);
  }
}

// Closes what does not go on, but for cancelled trials: they are closed already. REQUIRES: survivors by submission.
void HalvingBracket::Close(const std::vector<Entry>& survivors, std::vector<Action>& actions) const {
  auto survivor = survivors.begin();
  for (const Entry& entry : entries_) {
    if (survivor != survivors.end() && survivor->trial == entry.trial) {
      ++survivor;
    } else if (!std::holds_alternative<Cancelled>(*entry.outcome)) {
      actions.push_back(CloseTrial{first_ + entry.trial});
    }
  }
}

void HalvingBracket::EnterNextRung(std::vector<Entry> survivors, std::vector<Action>& actions) {
  ++rung_;
  entries_ = std::move(survivors);
  for (Entry& entry : entries_) {
    const Step steps = ladder_.ClaimAt(entry.trial, rung_);
    if (steps == entry.steps) continue;  // at its own horizon: what it reached stands
    entry.steps = steps;
    entry.outcome.reset();
    ++pending_;
    actions.push_back(ContinueTrial{first_ + entry.trial, steps});
  }
}

}  // namespace espalier::tuners
