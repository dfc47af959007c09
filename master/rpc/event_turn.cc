#include "master/rpc/event_turn.h"

#include <algorithm>

#include "master/rpc/convert.h"

namespace espalier::master {
namespace {

constexpr std::int64_t kEventsATurnMax = 1000;
constexpr std::size_t kResponseBytes = 1 << 20;  // a response is sent once it has so many

}  // namespace

Result<EventTurn> TakeTurn(const MasterState& state, StudyId id, std::int64_t next, const Caller& caller) {
  ESPALIER_ASSIGN(const Study* study, FindStudy(state, id, caller));
  if (next < 1) {
    return MakeError(ErrorCode::kInvalidArgument, "events count from 1, got " + std::to_string(next), "from_event");
  }
  EventTurn turn;
  const std::vector<StudyEvent>& events = state.events.at(id);
  const auto count = static_cast<std::int64_t>(events.size());
  if (next - 1 > count) {
    return MakeError(ErrorCode::kFailedPrecondition,
                     "the study has " + std::to_string(count) + " events, and is asked for those from " +
                         std::to_string(next) +
                         " on: who asks knows more than the database, which may be a restored one",
                     "from_event");
  }
  const std::int64_t end = std::min(count, next - 1 + kEventsATurnMax);
  turn.events.assign(events.begin() + (next - 1), events.begin() + end);
  turn.all_events = end >= count;
  turn.finished = turn.all_events && study->finished_at.has_value();
  return turn;
}

std::vector<EventPiece> PiecesOf(const EventTurn& turn, std::int64_t& next) {
  std::vector<EventPiece> pieces(1);
  std::size_t bytes = 0;
  for (const StudyEvent& event : turn.events) {
    v1::StudyEvent& message = *pieces.back().Add();
    message = master::ToProto(event, next++);
    bytes += message.ByteSizeLong();
    if (bytes < kResponseBytes) continue;
    pieces.emplace_back();
    bytes = 0;
  }
  return pieces;
}

}  // namespace espalier::master
