// One caller's stream of the events of many studies: his requests begin and end watches, and each response is of one.
// Watches take turns: what one has to send holds up the others for a turn at most. A watch costs nothing while nothing
// happens in its study.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/sync_stream.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "espalier/v1/study.pb.h"
#include "master/core/state/visibility.h"
#include "master/rpc/event_turn.h"
#include "master/rpc/master_port.h"
#include "master/rpc/study_watch.h"

namespace espalier::master {

class StudiesStream {
 public:
  using Writer = grpc::internal::WriterInterface<v1::WatchStudiesResponse>;

  // `admit`: as whom the caller may see studies; asked again and again, for his token may be revoked meanwhile.
  StudiesStream(MasterPort& master, StudyWatch& watch, std::function<Result<Caller>()> admit)
      : master_(master), watch_(watch), admit_(std::move(admit)), group_(watch) {}

  // The reading thread's: what the caller asks for; and that he asks for no more, where `at_once` ends every watch.
  void Take(v1::WatchStudiesRequest request);
  void TakeNoMore(bool at_once);

  // The writing thread's: writes until nobody listens any more, or until every watch has ended and no more is asked
  // for. Errors: of `admit`; kUnavailable when the master stops, or loads its state anew. Cost: as StreamEvents'.
  Result<void> Write(const grpc::ServerContext& context, Writer& writer);

 private:
  struct Watched {
    Watched(StudyWatch& watch, StudyWatch::Group& group, std::int64_t watch_id, const v1::WatchedStudy& begin);

    StudyId study;
    std::int64_t next;
    bool is_answered = false;
    bool is_behind = true;  // the event loop knows of events that the listener was not told of
    StudyWatch::Listener listener;
  };

  // Does what was asked for since. False: nothing is left to do, nor will be.
  bool TakeChanges();
  // The next of its events, or why it ends. Error: of the stream as a whole.
  Result<void> NextTurn(Watched& watched, const Caller& caller, Result<EventTurn>& turn);
  // False: nobody listens any more.
  Result<bool> WriteTurn(std::int64_t watch_id, const Caller& caller, Writer& writer);

  MasterPort& master_;
  StudyWatch& watch_;
  const std::function<Result<Caller>()> admit_;
  StudyWatch::Group group_;
  std::map<std::int64_t, Watched> watches_;  // by their ids; the writing thread's
  std::mutex mutex_;
  std::vector<v1::WatchStudiesRequest> changes_;  // not done yet
  bool no_more_ = false;
  bool at_once_ = false;
};

}  // namespace espalier::master
