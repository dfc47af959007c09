#include "master/loop/group_commit.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"

namespace espalier::master {
namespace {

// Clients wait; node managers do not, for acknowledgements and orders.
bool IsAwaited(const Effect& effect) {
  return std::holds_alternative<Reply>(effect) || std::holds_alternative<EventsAdded>(effect);
}

bool IsWorkOrMetrics(const StateChange& change) {
  const auto* plan_change = std::get_if<ChangePlan>(&change);
  if (plan_change != nullptr) return std::holds_alternative<AddMetrics>(plan_change->change);
  return std::holds_alternative<AddRun>(change) || std::holds_alternative<SetTerms>(change);
}

// Of each stream to a node manager only the newest orders are left: they replace those before, but for the files that
// these name.
void DropReplacedOrders(std::vector<Release>& releases) {
  std::map<SessionId, SendOrders*> newest;
  const auto is_replaced = [&](Release& release) {
    auto* effect = std::get_if<Effect>(&release);
    auto* orders = effect == nullptr ? nullptr : std::get_if<SendOrders>(effect);
    if (orders == nullptr) return false;
    const auto [later, is_newest] = newest.try_emplace(orders->session, orders);
    if (is_newest) return false;
    std::vector<std::string>& files = orders->orders.superseded_files;
    std::vector<std::string>& all = later->second->orders.superseded_files;
    all.insert(all.end(), std::make_move_iterator(files.begin()), std::make_move_iterator(files.end()));
    return true;
  };
  std::vector<bool> replaced(releases.size());
  for (std::size_t i = releases.size(); i-- > 0;) replaced[i] = is_replaced(releases[i]);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < releases.size(); ++i) {
    if (replaced[i]) continue;
    if (kept != i) releases[kept] = std::move(releases[i]);
    ++kept;
  }
  releases.resize(kept);
}

}  // namespace

bool GroupCommit::MayHandle(bool alone) const { return alone ? IsIdle() : !IsFull(); }

void GroupCommit::Handled(Transition transition, Moment now) {
  Open(now, PatienceFor(transition));
  std::move(transition.edit.begin(), transition.edit.end(), std::back_inserter(open_.edit));
  std::move(transition.effects.begin(), transition.effects.end(), std::back_inserter(open_.releases));
}

bool GroupCommit::Seen(ReadId read, Moment now) {
  if (IsIdle()) return true;
  Open(now, Seconds{0});
  open_.releases.emplace_back(read);
  return false;
}

std::optional<Moment> GroupCommit::CommitTime(bool alone) const {
  if (committing_ || IsEmpty()) return std::nullopt;
  return alone || IsFull() ? open_since_ : due_;
}

Batch GroupCommit::Start() {
  ESPALIER_CHECK(!committing_) << "one commit at a time";
  committing_ = true;
  DropReplacedOrders(open_.releases);
  return std::exchange(open_, {});
}

void GroupCommit::Committed() {
  ESPALIER_CHECK(committing_) << "no commit is on its way";
  committing_ = false;
}

void GroupCommit::Failed() {
  Committed();
  Drop();
}

void GroupCommit::Drop() { open_ = {}; }

void GroupCommit::Open(Moment now, Seconds patience) {
  if (IsEmpty()) {
    open_since_ = now;
    due_ = now + patience;
  }
  due_ = std::min(due_, now + patience);
}

Seconds GroupCommit::PatienceFor(const Transition& transition) const {
  if (std::any_of(transition.effects.begin(), transition.effects.end(), IsAwaited)) return Seconds{0};
  const bool is_soon = std::any_of(transition.edit.begin(), transition.edit.end(), IsWorkOrMetrics);
  return is_soon ? settings_.patience : settings_.longest_patience;
}

}  // namespace espalier::master
