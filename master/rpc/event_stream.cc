#include "master/rpc/event_stream.h"

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "master/rpc/convert.h"

namespace espalier::master {
namespace {

constexpr Seconds kProgressPeriod{0.5};
constexpr double kProgressShareMax = 0.02;  // of the event loop's time that one watcher's progress may take
constexpr std::int64_t kEventsATurnMax = 1000;
constexpr std::size_t kResponseBytes = 1 << 20;  // a response is sent once it has so many

// What a watcher is sent in one turn.
struct Turn {
  bool finished = false;
  std::vector<StudyEvent> events;
  bool all_events = false;
  std::optional<StudyProgress> progress;
};

// When to tell a watcher how far the study is: counting costs what the study holds, so that of a large one is told less
// often.
class ProgressClock {
 public:
  bool IsDue() const { return MonotonicNow() >= due_; }
  Seconds Left() const { return std::max(Seconds{0}, due_ - MonotonicNow()); }

  StudyProgress Count(const MasterState& state, StudyId study) {
    const Seconds begun = MonotonicNow();
    StudyProgress progress = ProgressOf(state, study, Now());
    const Seconds now = MonotonicNow();
    due_ = now + std::max(kProgressPeriod, (now - begun) / kProgressShareMax);
    return progress;
  }

 private:
  Seconds due_{0};
};

// What is to be sent from event `next` on. Error: kNotFound; kInvalidArgument when there can be no such number;
// kFailedPrecondition when the study has not so many events.
Result<Turn> TakeTurn(const MasterState& state, StudyId id, std::int64_t next, const Caller& caller,
                      ProgressClock& clock) {
  ESPALIER_ASSIGN(const Study* study, FindStudy(state, id, caller));
  if (next < 1) {
    return MakeError(ErrorCode::kInvalidArgument, "events count from 1, got " + std::to_string(next), "from_event");
  }
  Turn turn;
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
  if (turn.all_events && !turn.finished && clock.IsDue()) turn.progress = clock.Count(state, id);
  return turn;
}

// New events alone.
Turn TurnOf(std::vector<StudyEvent> news) {
  const bool finished = std::holds_alternative<StudyFinished>(news.back());
  return {.finished = finished, .events = std::move(news), .all_events = true};
}

// Events from number `next` on, which is moved behind them, and the progress. False: nobody listens any more.
bool Send(const Turn& turn, std::int64_t& next, grpc::internal::WriterInterface<v1::WatchResponse>& writer) {
  v1::WatchResponse response;
  std::size_t bytes = 0;
  for (const StudyEvent& event : turn.events) {
    v1::StudyEvent& message = *response.add_events();
    message = master::ToProto(event, next++);
    bytes += message.ByteSizeLong();
    if (bytes < kResponseBytes) continue;
    if (!writer.Write(response)) return false;
    response.Clear();
    bytes = 0;
  }
  if (turn.progress) *response.mutable_progress() = ToProto(*turn.progress);
  const bool is_empty = response.events().empty() && !response.has_progress();
  return is_empty || writer.Write(response);
}

}  // namespace

Result<void> StreamEvents(MasterPort& master, StudyWatch& watch, const grpc::ServerContext& context,
                          const v1::WatchRequest& request, const std::function<Result<Caller>()>& admit,
                          grpc::internal::WriterInterface<v1::WatchResponse>& writer) {
  const StudyId study{request.study_id()};
  std::int64_t next = request.from_event() == 0 ? 1 : request.from_event();
  ProgressClock clock;
  StudyWatch::Listener listener(watch, study);  // before the state is looked at: nothing is missed between
  std::optional<StudyWatch::Tuning> tuning;
  std::optional<std::vector<StudyEvent>> news;
  while (!context.IsCancelled() && !watch.stopped()) {
    ESPALIER_ASSIGN(const Caller caller, admit());
    Result<Turn> turn;
    if (news) {
      turn = TurnOf(*std::move(news));
    } else {
      ESPALIER_RETURN_IF_ERROR(
          master.Read([&](const MasterState& state) { turn = TakeTurn(state, study, next, caller, clock); }));
      ESPALIER_RETURN_IF_ERROR(turn);
    }
    if (request.tunes() && !tuning) tuning.emplace(watch, study);  // who may not see it does not tune it
    if (!Send(*turn, next, writer)) break;
    if (turn->finished) return {};
    news.reset();
    if (!turn->all_events || clock.IsDue()) continue;
    news = listener.Next(next, std::chrono::ceil<std::chrono::milliseconds>(clock.Left()));
  }
  return MakeError(ErrorCode::kUnavailable, "the master is stopping; try again");
}

}  // namespace espalier::master
