// One caller's stream of studies' events, whatever they come in. Watches take turns: what one has to send holds up the
// others for a response at most. A watch costs nothing while nothing happens in its study. The stream does one thing at
// a time - it asks the event loop, or it writes - and what is announced meanwhile waits, shared with others that watch
// the study; where more than 10,000 events wait, they are asked for of the event loop later, 1,000 at a time. Who
// reads, however slowly, misses none; who has taken nothing for 30 seconds, while something waits, is dropped, and may
// watch again from his next event. On the pump's thread.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/result.h"
#include "master/core/state/visibility.h"
#include "master/rpc/encoded_events.h"
#include "master/rpc/event_turn.h"
#include "master/rpc/stream_call.h"
#include "master/rpc/stream_places.h"
#include "master/rpc/study_watch.h"

namespace espalier::master {

// As whom a caller sees a study. Error: why he does not.
using SeenAs = std::function<Result<Caller>(const MasterState& state, StudyId study, const Caller& caller)>;

class EventStream : public StreamServer, public StudyWatch::Stream {
 public:
  ~EventStream() override;

  void Written() override;
  void Serve() override;
  void Look() override;
  void Stop() override;

 protected:
  using Message = EncodedEvents::Message;

  class Watched final : public StudyWatch::Watcher {
   public:
    Watched(EventStream& stream, std::int64_t id, StudyId study, const EventPosition& from);
    ~Watched() override;
    void Take(const std::shared_ptr<const EncodedEvents>& events) override;
    void TakeProgress(const grpc::Slice& progress) override;
    void Fail(const Error& error) override;

    const std::int64_t id;  // the caller's
    const StudyId study;
    bool is_answered = false;
    std::optional<grpc::Slice> progress;  // not told yet

   private:
    friend class EventStream;
    EventStream& stream_;
    const std::int64_t number_;  // of this stream's watches
    EventPosition at_;           // of the event that is to be sent next
    bool is_behind_ = true;      // the event loop is to be asked
    std::optional<Caller> seen_as_;
    std::optional<EncodedEvents> turn_;  // what it said
    bool is_finished_ = false;           // nor are there more behind that
    bool is_more_ = false;               // it knows more
    std::deque<std::shared_ptr<const EncodedEvents>> news_;
    std::size_t news_count_ = 0;  // the events in these
    std::int64_t news_end_ = 0;   // where those end that were announced
  };

  // What is sent next of a watch.
  struct Next {
    std::vector<grpc::Slice> events;
    bool is_all = false;       // for now
    bool is_finished = false;  // nor will there be more
  };

  EventStream(StudyWatch& watch, StreamCall& call, StreamPlaces::Place place, Message message, SeenAs seen_as);

  // Watches a study's events from `from` on; one of the caller's watches that has this id already ends.
  void Begin(std::int64_t id, StudyId study, const EventPosition& from);
  void EndWatch(std::int64_t id) { watches_.erase(id); }
  std::size_t watch_count() const { return watches_.size(); }
  // Ends the stream.
  void End(const Result<void>& outcome);

  // The response that says this; none: there is nothing to say.
  virtual std::optional<grpc::ByteBuffer> ResponseOf(Watched& watched, Next next) = 0;
  // The same for the end of a watch that cannot go on; none: that ends the stream.
  virtual std::optional<grpc::ByteBuffer> ResponseTo(Watched& watched, const Error& error) = 0;
  // Asked before the event loop is. Error: why the watch ends.
  virtual Result<void> MayWatch(const Watched&) const { return {}; }
  // All was sent that there is by now.
  virtual void AllSent(Watched&) {}
  // A watch has ended, and its caller is told.
  virtual void WatchEnded() = 0;

  StudyWatch& watch_;
  StreamCall& call_;

 private:
  // Next in turn; null: none.
  Watched* NextReady();
  void MakeReady(Watched& watched);
  void Ask(Watched& watched, const Caller& caller);
  void TakeTurn(Watched& watched, Result<EventTurn> turn, const Caller& caller);
  void WriteNext(Watched& watched);
  Next NextOf(Watched& watched);
  // Whether there is a piece that the next events are in. May find that the event loop is to be asked.
  const EncodedEvents* PieceOf(Watched& watched);
  void EndWatch(Watched& watched, const Error& error);
  void Write(const grpc::ByteBuffer& response);

  const StreamPlaces::Place place_;
  const Message message_;
  const SeenAs seen_as_;
  std::map<std::int64_t, std::unique_ptr<Watched>> watches_;  // by their ids
  std::int64_t last_number_ = 0;
  std::deque<std::int64_t> ready_;  // their ids, each once
  std::set<std::int64_t> is_ready_;
  bool is_asking_ = false;
  bool is_over_ = false;
  std::optional<Error> failure_;  // what the stream is to end with
  int looks_ = 0;                 // since what is being written began to be
  StudyWatch::StreamId id_;
};

}  // namespace espalier::master
