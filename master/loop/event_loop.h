// The master's one thread of decisions. It takes events in the order of their arrival, lets the handler change memory
// at once, and has the edits made durable in groups beside it. This is its contract; the rules behind it are pure
// classes: group_commit.h (what is committed when, what leaves when), isolation.h (what the store refuses for good),
// open_calls.h (who waits).
//
// In. Events by Post, stamped with the moment of their arrival; reads by PostRead, which look at memory and change
// nothing; and, by the loop itself, Recovered, the first event on every state that it has loaded, and Ticks, each
// behind all that was posted before it was due.
//
// Out. Effects, by EffectRunner, one at a time, in the order of the events that had them; answers of reads, by their
// callbacks, among them. Each leaves only when every edit before it is durable. Every event with a call is answered by
// exactly one Reply, every read by one callback, whatever happens. Log lines are logged when they leave.
//
// The caller: calls Run once, on the thread that is to decide; carries effects out quickly, for the next commit waits
// for them, and without waiting for the loop; posts from any thread. Nothing limits the queue but those who wait for
// answers: while the database is slow, events wait there and batches do not grow.
//
// Failure. What a read throws costs that read alone. What the handler throws ends the process: memory may be half
// changed. A commit that fails, or whose outcome is unknown, costs the memory: all that was gathered is dropped, every
// call and read that waits is told kUnavailable, every node manager to register again, and the state is loaded anew,
// for as long as the database is away; calls that arrive meanwhile are told kUnavailable at once. Safe, since every
// mutation carries a request id and node managers repeat what is not acknowledged. An event that the store refuses
// again when it is committed alone is isolated: its call is told kInternal; a report is acknowledged and not handled
// again. If that is the recovery itself, or what is stored breaks a rule, or another master leads, Run returns the
// error. Nobody is told the database's words: everybody hears a fixed sentence with an error id, under which the log
// has them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <variant>

#include "base/clock.h"
#include "base/log.h"
#include "master/core/effect.h"
#include "master/core/event.h"
#include "master/core/reactor.h"
#include "master/core/state/state_store.h"
#include "master/loop/commit_thread.h"
#include "master/loop/effect_runner.h"
#include "master/loop/group_commit.h"
#include "master/loop/isolation.h"
#include "master/loop/open_calls.h"

namespace espalier::master {

// React, with policy and settings bound.
using EventHandler = std::function<Transition(MasterState& state, const Event& event, Time now)>;

struct EventLoopSettings {
  Seconds tick_every{0.5};  // between Ticks; 0: none but those that are posted
  // A Tick that is later than this: the loop, or the whole process, stood still, and nobody could be heard.
  Seconds pause_min{2};
  GroupCommitSettings commit{};
  Seconds load_retry_min{0.1};
  Seconds load_retry_max{5};
  Seconds alone_for{30};  // how long events are committed alone after a batch was refused
  std::function<Time()> now = Now;
  std::function<Moment()> moment = [] { return Moment(MonotonicNow()); };
  std::function<void(const LogLine&)> log = [](const LogLine& line) { Log(line); };  // from several threads
};

class EventLoop {
 public:
  // REQUIRES: store and effects outlive the loop; only the loop uses the store.
  EventLoop(StateStore& store, EffectRunner& effects, EventHandler handler, EventLoopSettings settings = {});

  // Loads the state and handles events, on the calling thread, until Stop. Error, when the process must exit: another
  // master leads (kFailedPrecondition), or what is stored breaks a rule (kInternal). REQUIRES: called once.
  Result<void> Run();

  // Any thread. What has been handled is committed; calls that have not are told kUnavailable.
  void Stop();

  // Any thread.
  void Post(Event event);

  // Any thread. Calls `read` on the loop's thread with the state, then, once everything that it has read is durable,
  // `done` there or on another. `done` gets an error when that cannot be (kUnavailable, whether or not `read` was
  // called), or when `read` has thrown (kInternal).
  void PostRead(std::function<void(const MasterState&)> read, std::function<void(Result<void>)> done);

  // Any thread. Events and reads that wait for their turn.
  std::size_t waiting();

  // As PostRead; waits. REQUIRES: not called on the loop's thread or by an effect.
  Result<void> Read(const std::function<void(const MasterState&)>& read);

 private:
  using Done = std::function<void(Result<void>)>;
  struct ReadRequest {
    std::function<void(const MasterState&)> read;
    Done done;
  };
  using Item = std::variant<Event, ReadRequest>;

  // Error: kInternal, kFailedPrecondition.
  Result<void> LoadState();
  Result<void> HandleUntilStopOrFailure();
  // The next thing to handle; none when stopped and all is committed, or when a commit has failed.
  std::optional<Item> Next();
  bool IsAlone() const;
  bool MayTake() const;
  void StartCommitIfDue();
  // Queues a Tick if it is time for one, behind all that has been posted.
  void QueueTick();
  void AwaitChange(std::unique_lock<std::mutex>& lock);
  // Handles the event, or the first of its parts; the others come next.
  void Take(Event event);
  void Handle(const Event& event);
  // False, and not taken, once the loop has finished.
  bool Enqueue(Item item);
  void Handle(ReadRequest request);
  // After a commit that failed. Error: nothing can be done about it.
  Result<void> DropAndIsolate(const Error& error);
  // Logs the reason; gives back what everybody may be told.
  Error Unavailable(LogLevel level, const std::string& what, const Error& reason);
  // Unless the call has been answered.
  void Answer(CallId call, Error error);
  // Everybody who waits is told `why`; node managers are told to register again.
  void DropAll(const Error& why, bool last = false);
  void Let(Release release);
  void RunEffect(const Effect& effect);

  StateStore& store_;
  EffectRunner& effects_;
  const EventHandler handler_;
  const EventLoopSettings settings_;

  // The loop's thread only.
  MasterState state_;
  GroupCommit group_;
  Isolation isolation_;
  std::optional<Origin> alone_;  // of the last event handled, if it was to be committed alone
  std::optional<Error> commit_failure_;
  Moment next_tick_;
  ReadId next_read_{1};

  std::mutex effect_mutex_;  // one effect at a time

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Item> queue_;
  bool stopping_ = false;
  bool finished_ = false;                     // nobody takes from the queue any more
  std::optional<Result<void>> commit_ended_;  // of the batch on its way; the loop has not noticed yet
  OpenCalls open_calls_;
  std::map<ReadId, Done> open_reads_;  // that have looked, and wait until it is durable

  std::optional<CommitThread> commit_thread_;  // while Run runs; last: it uses the others
};

}  // namespace espalier::master
