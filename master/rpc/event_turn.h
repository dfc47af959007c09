// What of a study's events is sent in one turn, to whoever reads a stream of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/study_event.h"
#include "espalier/v1/study.pb.h"
#include "master/core/state/master_state.h"
#include "master/core/state/visibility.h"
#include "proto/convert_time.h"

namespace espalier::master {

// The next events of a study.
struct EventTurn {
  bool finished = false;  // nor will there be more
  std::vector<StudyEvent> events;
  std::vector<Time> times;  // when they happened, likewise
  bool all_events = false;  // there are no more yet
};

// How far somebody knows a study's events.
struct EventPosition {
  std::int64_t next = 1;         // the number of the first that he does not know
  std::optional<Time> previous;  // when the one before it happened, as he was told; none: whenever
};

// As a WatchRequest or a WatchedStudy says it.
template <class Request>
EventPosition PositionOf(const Request& request) {
  EventPosition position{.next = request.from_event() == 0 ? 1 : request.from_event(), .previous = {}};
  if (request.has_previous_happened_at()) position.previous = FromProto(request.previous_happened_at());
  return position;
}

// From there on, 1,000 at most. Error: kNotFound; kInvalidArgument when there can be no such number;
// kFailedPrecondition when the study has not so many events, or another one before it. Cost: a copy of the events.
Result<EventTurn> TakeTurn(const MasterState& state, StudyId id, const EventPosition& position, const Caller& caller);

// What one response holds of them, about 1 MiB.
using EventPiece = google::protobuf::RepeatedPtrField<v1::StudyEvent>;

// The turn's events with their numbers from `next` on, which is moved behind them; the last piece may be empty.
std::vector<EventPiece> PiecesOf(const EventTurn& turn, std::int64_t& next);

}  // namespace espalier::master
