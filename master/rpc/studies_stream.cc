#include "master/rpc/studies_stream.h"

#include <utility>

#include "master/rpc/grpc_status.h"
#include "master/rpc/limits.h"

namespace espalier::master {
namespace {

constexpr std::chrono::milliseconds kLookAgain{500};  // whether the caller may still listen, and does

v1::WatchEnded WhyEnded(const Error& error) {
  v1::WatchEnded ended;
  ended.set_status(ToStatus(error).error_code());
  ended.set_message(error.message);
  ended.set_field(error.field);
  return ended;
}

}  // namespace

StudiesStream::Watched::Watched(StudyWatch& watch, StudyWatch::Group& group, std::int64_t watch_id,
                                const v1::WatchedStudy& begin)
    : study{begin.study_id()},
      next(begin.from_event() == 0 ? 1 : begin.from_event()),
      listener(watch, study, &group, watch_id) {}

void StudiesStream::Take(v1::WatchStudiesRequest request) {
  {
    const std::lock_guard lock(mutex_);
    changes_.push_back(std::move(request));
  }
  group_.Wake();
}

void StudiesStream::TakeNoMore(bool at_once) {
  {
    const std::lock_guard lock(mutex_);
    no_more_ = true;
    at_once_ = at_once;
  }
  group_.Wake();
}

Result<void> StudiesStream::Write(const grpc::ServerContext& context, Writer& writer) {
  while (TakeChanges()) {
    if (context.IsCancelled()) return {};
    if (watch_.stopped()) return MakeError(ErrorCode::kUnavailable, "the master is stopping; try again");
    ESPALIER_ASSIGN(const Caller caller, admit_());
    const std::optional<std::int64_t> watch_id = group_.Next(kLookAgain);
    if (!watch_id) continue;
    ESPALIER_ASSIGN(const bool is_heard, WriteTurn(*watch_id, caller, writer));
    if (!is_heard) return {};
  }
  return {};
}

bool StudiesStream::TakeChanges() {
  std::vector<v1::WatchStudiesRequest> changes;
  bool no_more = false;
  {
    const std::lock_guard lock(mutex_);
    changes.swap(changes_);
    no_more = no_more_;
    if (at_once_) return false;
  }
  for (const v1::WatchStudiesRequest& change : changes) {
    watches_.erase(change.watch_id());
    if (!change.has_begin()) continue;
    watches_.try_emplace(change.watch_id(), watch_, group_, change.watch_id(), change.begin());
    group_.PutBack(change.watch_id());
  }
  return !no_more || !watches_.empty();
}

Result<void> StudiesStream::NextTurn(Watched& watched, const Caller& caller, Result<EventTurn>& turn) {
  if (watches_.size() > kStudiesPerStreamMax && !watched.is_answered) {
    turn = MakeError(ErrorCode::kResourceExhausted, "a stream watches at most " + std::to_string(kStudiesPerStreamMax) +
                                                        " studies at once; end some of them first");
    return {};
  }
  std::optional<std::vector<StudyEvent>> news;
  if (!watched.is_behind) news = watched.listener.Poll(watched.next);
  if (!news) {
    return master_.Read([&](const MasterState& state) { turn = TakeTurn(state, watched.study, watched.next, caller); });
  }
  turn = news->empty() ? EventTurn{.all_events = true} : TurnOf(*std::move(news));
  return {};
}

Result<bool> StudiesStream::WriteTurn(std::int64_t watch_id, const Caller& caller, Writer& writer) {
  const auto found = watches_.find(watch_id);
  if (found == watches_.end()) return true;  // it was ended meanwhile
  Watched& watched = found->second;
  Result<EventTurn> turn;
  ESPALIER_RETURN_IF_ERROR(NextTurn(watched, caller, turn));
  v1::WatchStudiesResponse response;
  response.set_watch_id(watch_id);
  if (!turn.has_value()) {
    *response.mutable_ended() = WhyEnded(turn.error());
    watches_.erase(found);
    return writer.Write(response);
  }
  std::vector<EventPiece> pieces = PiecesOf(*turn, watched.next);
  for (EventPiece& piece : pieces) {
    const bool is_last = &piece == &pieces.back();
    response.mutable_events()->Swap(&piece);
    if (is_last && turn->finished) response.mutable_ended();
    const bool says_nothing = response.events().empty() && !response.has_ended() && watched.is_answered;
    if (!says_nothing && !writer.Write(response)) return false;
    watched.is_answered = true;
  }
  watched.is_behind = !turn->all_events;
  if (turn->finished) {
    watches_.erase(found);
  } else if (watched.is_behind) {
    group_.PutBack(watch_id);
  }
  return true;
}

}  // namespace espalier::master
