// The master's one thread of decisions: takes events in order, lets the handler change memory at once, and gathers
// edits and effects into a batch, which the commit thread makes durable while the next one fills. Invariants: an effect
// or an answer leaves only when every edit before it is durable; effects leave in order. When a commit fails, its
// outcome is unknown: memory is dropped, every call that waits is told so, node managers are asked to register again,
// and the state is loaded anew. When the store refuses a batch for good, each event is committed alone for a while: the
// call that cannot be stored is then told why, and the others, which try again, are not harmed by it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <variant>

#include "base/clock.h"
#include "base/log.h"
#include "master/core/effect.h"
#include "master/core/event.h"
#include "master/core/reactor.h"
#include "master/core/state/state_store.h"
#include "master/loop/commit_thread.h"
#include "master/loop/effect_runner.h"

namespace espalier::master {

// React, with policy and settings bound.
using EventHandler = std::function<Transition(MasterState& state, const Event& event, Time now)>;

struct EventLoopSettings {
  Seconds tick_every{0.5};  // between Ticks; 0: none but those that are posted
  // A Tick that is later than this: the loop, or the whole process, stood still, and nobody could be heard.
  Seconds pause_min{2};
  // How long a batch that nobody waits for (reports, to be acknowledged sometime) is held open for more of the kind.
  Seconds commit_patience{0.0005};
  Seconds load_retry_min{0.1};
  Seconds load_retry_max{5};
  Seconds alone_for{30};  // how long events are committed alone after a batch was refused for good
  std::function<Time()> now = Now;
  std::function<Moment()> moment = [] { return Moment(MonotonicNow()); };
  std::function<void(const LogLine&)> log = [](const LogLine& line) { Log(line); };
};

class EventLoop {
 public:
  // REQUIRES: store and effects outlive the loop; only the loop uses the store.
  EventLoop(StateStore& store, EffectRunner& effects, EventHandler handler, EventLoopSettings settings = {});

  // Loads the state and handles events, on the calling thread, until Stop. Returns an error when the process must exit:
  // another master leads (kFailedPrecondition), or what is stored breaks a rule (kInternal). Either way no call is left
  // without an answer. REQUIRES: called once.
  Result<void> Run();

  // Any thread. What has been handled is committed; calls that have not are told kUnavailable.
  void Stop();

  // Any thread. The event is stamped with the moment of its arrival. Every event with a call is answered by exactly one
  // Reply, sooner or later.
  void Post(Event event);

  // Any thread. Calls `read` on the loop's thread with the state, then, once everything that it has read is durable,
  // `done` there or on another; when that cannot be, `done` gets an error (kUnavailable), whether or not `read` was
  // called. What `read` throws costs this call alone: `done` gets kInternal with the id under which the log has it.
  void PostRead(std::function<void(const MasterState&)> read, std::function<void(Result<void>)> done);

  // As PostRead; waits. REQUIRES: not called on the loop's thread or by an effect.
  Result<void> Read(const std::function<void(const MasterState&)>& read);

 private:
  struct ReadRequest {
    std::function<void(const MasterState&)> read;
    std::function<void(Result<void>)> done;
  };
  using Item = std::variant<Event, ReadRequest>;

  Result<void> LoadState();
  Result<void> HandleUntilStopOrFailure();
  // The next thing to handle; none when stopped and all is committed, or when a commit has failed.
  std::optional<Item> Next();
  void Handle(const Event& event);
  void Handle(ReadRequest request);
  bool IsAllDurable();
  // When the batch that is being filled is to be committed at the latest; none if it is empty.
  std::optional<Moment> CommitTime() const;
  // Queues a Tick if it is time for one, behind all that has been posted.
  void QueueTick();
  bool MustHandleAlone() const;
  // After a refused commit: answers the call that was alone in it, or has the next events committed alone.
  void Isolate(const Error& refused);
  void Release(const Effect& effect);
  void RunEffect(const Effect& effect);
  // Everybody who waits is told `why`; node managers are told to register again.
  void DropAll(const Error& why, bool last = false);

  StateStore& store_;
  EffectRunner& effects_;
  const EventHandler handler_;
  const EventLoopSettings settings_;

  // The loop's thread only.
  MasterState state_;
  Batch filling_;
  bool is_awaited_ = false;  // somebody waits for what is in `filling_`
  Moment filling_since_;
  Moment next_tick_;
  Moment alone_until_{};
  std::optional<CallId> alone_call_;  // of the last event handled, if it is alone in its batch

  std::mutex effect_mutex_;  // one effect at a time

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Item> queue_;
  bool stopping_ = false;
  bool finished_ = false;  // nobody takes from the queue any more
  bool committing_ = false;
  std::optional<Error> commit_error_;
  std::set<CallId> waiting_calls_;  // posted, not answered
  std::set<SessionId> sessions_;    // that have sent something, and have neither gone nor been ended

  std::optional<CommitThread> commit_thread_;  // while Run runs; last: it uses the others
};

}  // namespace espalier::master
