// A call of Watch: one study's events, and now and then how far it is, until it is finished.
#pragma once

#include <optional>

#include "master/rpc/event_stream.h"
#include "master/rpc/tuned_studies.h"

namespace espalier::master {

// Errors that end it: of StreamCall's Admit and Parse; of `seen_as`, and of TakeTurn; kUnavailable when the master
// stops, or loads its state anew, and to who does not read. Cost: on the event loop a copy of the events that were
// stored as the call began, at most 1,000 at a time; new ones are encoded once for all who watch the study. On the
// pump some microseconds a response, on the wire the events' bytes.
class OneStudyStream final : public EventStream {
 public:
  OneStudyStream(StudyWatch& watch, TunedStudies& tuned, StreamCall& call, StreamPlaces::Place place, SeenAs seen_as)
      : EventStream(watch, call, std::move(place), Message::kWatchResponse, std::move(seen_as)), tuned_(tuned) {}

  Result<void> Take(grpc::ByteBuffer& body) override;
  void TakeNoMore() override;

 private:
  std::optional<grpc::ByteBuffer> ResponseOf(Watched& watched, Next next) override;
  std::optional<grpc::ByteBuffer> ResponseTo(Watched&, const Error&) override { return std::nullopt; }
  void AllSent(Watched& watched) override { watch_.TellProgress(watched.study, watched); }
  void WatchEnded() override { End({}); }

  TunedStudies& tuned_;
  bool is_begun_ = false;
  bool tunes_ = false;
  std::optional<TunedStudies::Mark> mark_;
};

}  // namespace espalier::master
