// Brings studies' new events, past the event loop, and how far the studies are, to the streams that watch them; and
// shares out among all streams what they ask of the event loop. What all watchers of a study are told is made once and
// shared. It lives on the pump's thread, but for Announce and Stop, which any thread may call.
#pragma once

#include <grpcpp/support/slice.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "master/core/effect.h"
#include "master/rpc/encoded_events.h"
#include "master/rpc/master_port.h"
#include "master/rpc/past_studies.h"

namespace espalier::master {

class StudyWatch {
 public:
  // One who watches one study. May neither begin nor end to watch within what is called here.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    // New events. There may be some between the last and these: the master has recovered meanwhile.
    virtual void Take(const std::shared_ptr<const EncodedEvents>& events) = 0;
    // How far the study is: a WatchResponse, encoded.
    virtual void TakeProgress(const grpc::Slice& progress) = 0;
    // Why nobody knows how far it is.
    virtual void Fail(const Error& error) = 0;
  };

  // One caller's stream.
  class Stream {
   public:
    virtual ~Stream() = default;
    // Does what can be done now.
    virtual void Serve() = 0;
    // Twice a second: whether the caller may still listen, and does.
    virtual void Look() = 0;
    // The master stops.
    virtual void Stop() = 0;
  };
  using StreamId = std::int64_t;

  // `hand`: gives a function to the pump's thread, from any thread, in the order in which they are given. `now`: never
  // goes back; from any thread. REQUIRES: the master outlives the watch, or calls nothing back after it.
  using Hand = std::function<void(std::function<void()>)>;
  StudyWatch(MasterPort& master, PastStudies& pasts, Hand hand, std::function<Seconds()> now = MonotonicNow);

  // Events that are durable now. O(log watched studies), whoever watches; they are taken, and encoded by the pump.
  void Announce(EventsAdded added);

  // Ends every stream, and each that begins later.
  void Stop();

  // Does what is due; in how long it is to be called again, at the latest.
  Seconds Work();

  // While a stream is known it is served and looked at. REQUIRES: it is forgotten before it goes.
  StreamId Know(Stream& stream);
  void Forget(StreamId stream);
  // It is served in its turn, once.
  void MakeReady(StreamId stream);

  // Events that are announced from now on are brought to the watcher: at once, or, where many watch the study, in
  // rounds that leave the processor to others, with those of some time together. REQUIRES: it is removed before it
  // goes.
  void Add(StudyId study, Watcher& watcher);
  void Remove(StudyId study, Watcher& watcher);
  // From now on it is told how far the study is, at once if that is known. The study is counted once for all who watch
  // it, at most twice a second; and all counting takes at most 2 % of the event loop's time. REQUIRES: it was added.
  void TellProgress(StudyId study, Watcher& watcher);

  // Looks at a state of the study, the event loop's, there, or, where it is retired, one of its own, here; then, once
  // all it has seen is durable, `done` is called here, unless the stream is forgotten. Few do so at once: others wait
  // their turn. Error for `done`: of MasterPort::PostRead, or of PastStudies.
  struct Asked {
    StudyId study;
    std::function<bool(const MasterState&)> may_see;  // a retired study; else nothing is read from the database
    std::function<void(const MasterState&)> read;
    std::function<void(Result<void>)> done;
  };
  void Read(StreamId stream, Asked asked);

 private:
  // What the watchers of one study share.
  struct Feed {
    bool HasNews() const { return !news.events.empty() || is_progress_new; }

    std::set<Watcher*> watchers;
    std::set<Watcher*> told_progress;  // of these
    EventsAdded news;                  // announced, and for the next round
    std::optional<grpc::Slice> progress;
    bool is_progress_new = false;  // and for the next round
    // The round under way: what is brought, and to whom it was last. Null: there is none.
    std::shared_ptr<const EncodedEvents> events;  // null: none
    bool is_progress_brought = false;
    Watcher* last = nullptr;
    Seconds bring_at{0};      // not before
    Seconds count_at{0};      // not before
    bool is_counted = false;  // now
  };
  struct Reading {
    StreamId stream;
    Asked asked;
  };
  struct Counted;
  using Due = std::set<std::pair<Seconds, StudyId>>;

  void Take(EventsAdded added);
  // To some of the watchers.
  void Bring(StudyId study, Feed& feed);
  void StartReads();
  void Begin(const Reading& reading);
  void EndRead(const Reading& reading, const Result<void>& outcome);
  void StartCount(StudyId study, Feed& feed);
  void TakeCount(StudyId study, const Counted& counted);
  void Look();
  void Serve();
  // In how long the first of what is left is due.
  Seconds NextDue() const;

  MasterPort& master_;
  PastStudies& pasts_;
  const Hand hand_;
  const std::function<Seconds()> now_;

  std::map<StudyId, Feed> feeds_;  // of those that are watched
  Due bring_;                      // those with news, or with a round under way
  Due count_;                      // those whose progress somebody is told, but for the one that is counted
  bool is_counting_ = false;
  Seconds count_free_at_{0};  // nothing is counted before

  std::map<StreamId, Stream*> streams_;
  StreamId last_stream_ = 0;
  std::deque<StreamId> ready_;
  std::set<StreamId> is_ready_;
  Seconds look_at_{0};
  bool stopped_ = false;

  std::deque<Reading> readings_;
  int reading_count_ = 0;  // on the event loop

  std::mutex mutex_;
  std::set<StudyId> watched_;  // the keys of `feeds_`, for who announces
};

}  // namespace espalier::master
