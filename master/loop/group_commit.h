// The rule of what becomes durable when, and what leaves when: pure, so that the event loop with its threads and a
// simulator with virtual commits follow the same one.
//
// What goes in, in the order in which it happens: each event that was handled, as its transition, whose edit is in
// memory already (Handled); each read that has looked at memory (Seen); the end of a commit (Committed, Failed).
//
// What comes out: whether the next event may be handled (MayHandle); when the next batch is to be committed
// (CommitTime); the batch (Start): the edits of neighbouring events, in order, and what may leave once they are
// durable, in order too: the events' effects, and the answers of the reads among them.
//
// What the caller must do with it:
// - Handle the next event only if MayHandle says so. It is refused while the open batch is full, so that callers wait
//   for a slow database instead of a batch growing; and, of events that are to be alone, while another is not durable.
// - Once CommitTime has come, Start the batch and store its edit in one transaction. One batch is on its way at a time;
//   the next fills meanwhile.
// - When it is durable, let all its releases go, in order, and say Committed. So an effect leaves only when every edit
//   before it is durable, and effects leave in the order of their events.
// - When it failed, or its outcome is unknown, let nothing of it go, and say Failed. What was gathered since is dropped
//   too: it was decided on a memory that may never have been. The caller drops that memory, tells whoever waits, and
//   loads the state anew; from then on everything begins afresh here.
//
// A batch that somebody waits for is committed as soon as the one before is done; one that orders work, or holds
// metrics, is held open for a moment, so that it takes more of them along; one of acknowledgements alone, as when a run
// is over and no other follows it, for longer: what its user submits next goes along.
//
// One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "master/core/reactor.h"

namespace espalier::master {

// A read that waits until what it saw is durable.
using ReadId = Id<struct ReadTag>;

using Release = std::variant<Effect, ReadId>;

struct Batch {
  StateEdit edit;
  std::vector<Release> releases;
};

struct GroupCommitSettings {
  // How long a batch that nobody waits for is held open.
  Seconds patience{0.0005};
  // And one that, besides, neither orders work nor holds metrics.
  Seconds longest_patience{0.005};
  // A batch with so many changes is full. One event may bring more; it is the batch's last.
  std::size_t change_count_max = 50'000;
};

class GroupCommit {
 public:
  explicit GroupCommit(GroupCommitSettings settings) : settings_(settings) {}

  // `alone`: the event shall share its commit with no other.
  bool MayHandle(bool alone) const;

  // REQUIRES: MayHandle.
  void Handled(Transition transition, Moment now);

  // True: all that the read saw is durable, and its answer may leave at once. Else the answer is among the releases of
  // a batch to come.
  [[nodiscard]] bool Seen(ReadId read, Moment now);

  // From when on the next batch is to be committed; none if there is nothing to commit, or one is on its way. `alone`:
  // no company is waited for.
  std::optional<Moment> CommitTime(bool alone) const;

  // The batch, which is on its way from now on. REQUIRES: CommitTime has a value; it need not have come.
  Batch Start();

  bool IsCommitting() const { return committing_; }
  // Nothing is to be committed, and nothing on its way.
  bool IsIdle() const { return !committing_ && IsEmpty(); }

  // REQUIRES of both: IsCommitting.
  void Committed();
  void Failed();

  // Drops what is being gathered.
  void Drop();

 private:
  bool IsEmpty() const { return open_.edit.empty() && open_.releases.empty(); }
  bool IsFull() const { return open_.edit.size() >= settings_.change_count_max; }
  // Something that is to be durable after `patience` at the latest joins what is being gathered.
  void Open(Moment now, Seconds patience);
  // Of what an event has come to.
  Seconds PatienceFor(const Transition& transition) const;

  const GroupCommitSettings settings_;
  Batch open_;  // being gathered
  Moment open_since_{};
  Moment due_{};  // no later than this; but for what is full or alone, no earlier either
  bool committing_ = false;
};

}  // namespace espalier::master
