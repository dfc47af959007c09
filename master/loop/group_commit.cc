#include "master/loop/group_commit.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace espalier::master {
namespace {

// Acknowledgements and orders to node managers may be late by a moment; clients wait.
bool IsAwaited(const Effect& effect) {
  return std::holds_alternative<Reply>(effect) || std::holds_alternative<EventsAdded>(effect);
}

}  // namespace

bool GroupCommit::MayHandle(bool alone) const { return alone ? IsIdle() : !IsFull(); }

void GroupCommit::Handled(Transition transition, Moment now) {
  Open(now);
  is_awaited_ |= std::any_of(transition.effects.begin(), transition.effects.end(), IsAwaited);
  std::move(transition.edit.begin(), transition.edit.end(), std::back_inserter(open_.edit));
  std::move(transition.effects.begin(), transition.effects.end(), std::back_inserter(open_.releases));
}

bool GroupCommit::Seen(ReadId read, Moment now) {
  if (IsIdle()) return true;
  Open(now);
  is_awaited_ = true;
  open_.releases.emplace_back(read);
  return false;
}

std::optional<Moment> GroupCommit::CommitTime(bool alone) const {
  if (committing_ || IsEmpty()) return std::nullopt;
  return is_awaited_ || alone || IsFull() ? open_since_ : open_since_ + settings_.patience;
}

Batch GroupCommit::Start() {
  ESPALIER_CHECK(!committing_) << "one commit at a time";
  committing_ = true;
  is_awaited_ = false;
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

void GroupCommit::Drop() {
  open_ = {};
  is_awaited_ = false;
}

void GroupCommit::Open(Moment now) {
  if (IsEmpty()) open_since_ = now;
}

}  // namespace espalier::master
