// What of a study's events is sent in one turn, to whoever reads a stream of them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/study_event.h"
#include "espalier/v1/study.pb.h"
#include "master/core/state/master_state.h"
#include "master/core/state/visibility.h"

namespace espalier::master {

// The next events of a study.
struct EventTurn {
  bool finished = false;  // nor will there be more
  std::vector<StudyEvent> events;
  bool all_events = false;  // there are no more yet
};

// From event `next` on, 1,000 at most. Error: kNotFound; kInvalidArgument when there can be no such number;
// kFailedPrecondition when the study has not so many events. Cost: a copy of the events.
Result<EventTurn> TakeTurn(const MasterState& state, StudyId id, std::int64_t next, const Caller& caller);

// What one response holds of them, about 1 MiB.
using EventPiece = google::protobuf::RepeatedPtrField<v1::StudyEvent>;

// The turn's events with their numbers from `next` on, which is moved behind them; the last piece may be empty.
std::vector<EventPiece> PiecesOf(const EventTurn& turn, std::int64_t& next);

}  // namespace espalier::master
