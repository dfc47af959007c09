#include "master/rpc/event_turn.h"

#include <algorithm>

#include "master/rpc/convert.h"

namespace espalier::master {
namespace {

constexpr std::int64_t kEventsATurnMax = 1000;
constexpr std::size_t kResponseBytes = 1 << 20;  // a response is sent once it has so many

}  // namespace

Result<EventTurn> TakeTurn(const MasterState& state, StudyId id, const EventPosition& position, const Caller& caller) {
  ESPALIER_ASSIGN(const Study* study, FindStudy(state, id, caller));
  const std::int64_t next = position.next;
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
  const auto times = state.event_times.find(id);
  if (position.previous && next > 1 && times->second[static_cast<std::size_t>(next - 2)] != *position.previous) {
    return MakeError(ErrorCode::kFailedPrecondition,
                     "event " + std::to_string(next - 1) +
                         " of the study is another than the one that who asks knows: " +
                         "the database was restored, and what came after its backup is gone",
                     "previous_happened_at");
  }
  const std::int64_t end = std::min(count, next - 1 + kEventsATurnMax);
  turn.events.assign(events.begin() + (next - 1), events.begin() + end);
  if (times != state.event_times.end()) {
    turn.times.assign(times->second.begin() + (next - 1), times->second.begin() + end);
  }
  turn.all_events = end >= count;
  turn.finished = turn.all_events && study->finished_at.has_value();
  return turn;
}

std::vector<EventPiece> PiecesOf(const EventTurn& turn, std::int64_t& next) {
  std::vector<EventPiece> pieces(1);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < turn.events.size(); ++i) {
    v1::StudyEvent& message = *pieces.back().Add();
    message = master::ToProto(turn.events[i], next++, turn.times[i]);
    bytes += message.ByteSizeLong();
    if (bytes < kResponseBytes) continue;
    pieces.emplace_back();
    bytes = 0;
  }
  return pieces;
}

}  // namespace espalier::master
