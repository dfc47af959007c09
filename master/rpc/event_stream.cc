#include "master/rpc/event_stream.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "master/rpc/convert.h"
#include "master/rpc/event_turn.h"

namespace espalier::master {
namespace {

constexpr Seconds kProgressPeriod{0.5};
constexpr double kProgressShareMax = 0.02;  // of the event loop's time that one watcher's progress may take

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

// The turn's events and the progress. False: nobody listens any more.
bool Send(const EventTurn& turn, const std::optional<StudyProgress>& progress, std::int64_t& next,
          grpc::internal::WriterInterface<v1::WatchResponse>& writer) {
  std::vector<EventPiece> pieces = PiecesOf(turn, next);
  v1::WatchResponse response;
  for (EventPiece& piece : pieces) {
    response.mutable_events()->Swap(&piece);
    if (progress && &piece == &pieces.back()) *response.mutable_progress() = ToProto(*progress);
    const bool is_empty = response.events().empty() && !response.has_progress();
    if (!is_empty && !writer.Write(response)) return false;
  }
  return true;
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
    Result<EventTurn> turn;
    std::optional<StudyProgress> progress;
    if (news) {
      turn = TurnOf(*std::exchange(news, std::nullopt));
    } else {
      ESPALIER_RETURN_IF_ERROR(master.Read([&](const MasterState& state) {
        turn = TakeTurn(state, study, next, caller);
        const bool is_due = turn.has_value() && turn->all_events && !turn->finished && clock.IsDue();
        if (is_due) progress = clock.Count(state, study);
      }));
      ESPALIER_RETURN_IF_ERROR(turn);
    }
    if (request.tunes() && !tuning) tuning.emplace(watch, study);  // who may not see it does not tune it
    if (!Send(*turn, progress, next, writer)) break;
    if (turn->finished) return {};
    if (!turn->all_events || clock.IsDue()) continue;
    news = listener.Next(next, std::chrono::ceil<std::chrono::milliseconds>(clock.Left()));
  }
  return MakeError(ErrorCode::kUnavailable, "the master is stopping; try again");
}

}  // namespace espalier::master
