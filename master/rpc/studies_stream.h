// A call of WatchStudies: the caller's requests begin and end watches of studies, and each response is of one of them.
#pragma once

#include <optional>

#include "master/rpc/event_stream.h"

namespace espalier::master {

// Ends once every watch has ended and no more is asked for. Errors that end it before: of StreamCall's Admit and Parse;
// kUnavailable when the master stops, or loads its state anew, and to who does not read. What ends one watch is told in
// a response. Cost: as OneStudyStream's.
class StudiesStream final : public EventStream {
 public:
  StudiesStream(StudyWatch& watch, StreamCall& call, StreamPlaces::Place place, SeenAs seen_as)
      : EventStream(watch, call, std::move(place), Message::kWatchStudiesResponse, std::move(seen_as)) {}

  Result<void> Take(grpc::ByteBuffer& body) override;
  void TakeNoMore() override;

 private:
  std::optional<grpc::ByteBuffer> ResponseOf(Watched& watched, Next next) override;
  std::optional<grpc::ByteBuffer> ResponseTo(Watched& watched, const Error& error) override;
  Result<void> MayWatch(const Watched& watched) const override;
  void WatchEnded() override { EndIfIdle(); }
  void EndIfIdle();

  bool no_more_ = false;
};

}  // namespace espalier::master
