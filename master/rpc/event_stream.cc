#include "master/rpc/event_stream.h"

#include <utility>

namespace espalier::master {
namespace {

constexpr std::size_t kResponseBytesMax = 1 << 20;  // a response is sent once it has so many
constexpr std::size_t kEventsKeptMax = 10'000;
constexpr int kLooksMax = 60;  // 30 s, of a pump that has not stood still

Error Stopping() { return {ErrorCode::kUnavailable, "the master is stopping; try again", {}}; }

bool IsSame(const std::optional<Caller>& one, const Caller& other) {
  return one && one->user == other.user && one->team == other.team;
}

}  // namespace

EventStream::Watched::Watched(EventStream& stream, std::int64_t its_id, StudyId its_study, const EventPosition& from)
    : id(its_id), study(its_study), stream_(stream), number_(++stream.last_number_), at_(from) {
  stream_.watch_.Add(study, *this);
}

EventStream::Watched::~Watched() { stream_.watch_.Remove(study, *this); }

void EventStream::Watched::Take(const std::shared_ptr<const EncodedEvents>& events) {
  news_end_ = events->end();
  news_count_ += static_cast<std::size_t>(events->end() - events->first());
  news_.push_back(events);
  if (news_count_ > kEventsKeptMax) {
    news_.clear();
    news_count_ = 0;
  }
  stream_.MakeReady(*this);
}

void EventStream::Watched::TakeProgress(const grpc::Slice& told) {
  progress = told;
  stream_.MakeReady(*this);
}

void EventStream::Watched::Fail(const Error& error) {
  stream_.failure_ = error;
  stream_.MakeReady(*this);
}

EventStream::EventStream(StudyWatch& watch, StreamCall& call, StreamPlaces::Place place, Message message,
                         SeenAs seen_as)
    : watch_(watch),
      call_(call),
      place_(std::move(place)),
      message_(message),
      seen_as_(std::move(seen_as)),
      id_(watch_.Know(*this)) {}

EventStream::~EventStream() { watch_.Forget(id_); }

void EventStream::Begin(std::int64_t id, StudyId study, const EventPosition& from) {
  watches_.erase(id);
  const auto begun = watches_.emplace(id, std::make_unique<Watched>(*this, id, study, from)).first;
  MakeReady(*begun->second);
}

void EventStream::End(const Result<void>& outcome) {
  is_over_ = true;
  watches_.clear();
  call_.End(outcome);
}

void EventStream::Stop() {
  End(tl::unexpected<Error>(Stopping()));
  if (call_.is_writing()) call_.Break(Stopping());
}

void EventStream::Written() {
  looks_ = 0;
  Serve();
}

void EventStream::Look() {
  if (call_.is_writing() && ++looks_ > kLooksMax) {
    watches_.clear();
    is_over_ = true;
    return call_.Break({ErrorCode::kUnavailable,
                        "nothing was read of this stream for 30 s, and it was ended; watch again, from the next event",
                        {}});
  }
  if (is_over_) return;
  if (const Result<Caller> caller = call_.Admit(); !caller.has_value()) End(tl::unexpected<Error>(caller.error()));
}

void EventStream::MakeReady(Watched& watched) {
  if (is_ready_.insert(watched.id).second) ready_.push_back(watched.id);
  watch_.MakeReady(id_);
}

EventStream::Watched* EventStream::NextReady() {
  while (!ready_.empty()) {
    const auto found = watches_.find(ready_.front());
    is_ready_.erase(ready_.front());
    ready_.pop_front();
    if (found != watches_.end()) return found->second.get();
  }
  return nullptr;
}

void EventStream::Serve() {
  while (!is_over_ && !is_asking_ && !call_.is_writing()) {
    Watched* const watched = NextReady();
    if (watched == nullptr) return;
    if (failure_) return End(tl::unexpected<Error>(*failure_));
    const Result<Caller> caller = call_.Admit();
    if (!caller.has_value()) return End(tl::unexpected<Error>(caller.error()));
    if (const Result<void> may = MayWatch(*watched); !may.has_value()) {
      EndWatch(*watched, may.error());
    } else if (watched->is_behind_ || !IsSame(watched->seen_as_, *caller)) {
      Ask(*watched, *caller);
    } else {
      WriteNext(*watched);
    }
  }
}

void EventStream::Ask(Watched& watched, const Caller& caller) {
  is_asking_ = true;
  const auto turn = std::make_shared<Result<EventTurn>>();
  const auto read = [turn, caller, study = watched.study, position = watched.at_,
                     seen_as = seen_as_](const MasterState& state) {
    const Result<Caller> as = seen_as(state, study, caller);
    *turn = as.has_value() ? master::TakeTurn(state, study, position, *as)
                           : Result<EventTurn>(tl::unexpected<Error>(as.error()));
  };
  const auto may_see = [caller, study = watched.study, seen_as = seen_as_](const MasterState& state) {
    const Result<Caller> as = seen_as(state, study, caller);
    return as.has_value() && FindStudy(state, study, *as).has_value();
  };
  const auto done = [this, turn, caller, id = watched.id, number = watched.number_](const Result<void>& outcome) {
    is_asking_ = false;
    if (is_over_) return;
    if (!outcome.has_value()) return End(outcome);
    const auto found = watches_.find(id);
    if (found != watches_.end() && found->second->number_ == number) {
      TakeTurn(*found->second, std::move(*turn), caller);
    }
    Serve();
  };
  watch_.Read(id_, {.study = watched.study, .may_see = may_see, .read = read, .done = done});
}

void EventStream::TakeTurn(Watched& watched, Result<EventTurn> turn, const Caller& caller) {
  if (!turn.has_value()) return EndWatch(watched, turn.error());
  watched.is_behind_ = false;
  watched.at_.previous.reset();  // it has been looked at
  watched.seen_as_ = caller;
  watched.turn_.emplace(watched.at_.next, std::move(turn->events), std::move(turn->times));
  watched.is_more_ = !turn->all_events;
  watched.is_finished_ = turn->finished;
  WriteNext(watched);
}

const EncodedEvents* EventStream::PieceOf(Watched& watched) {
  if (watched.turn_ && watched.turn_->end() > watched.at_.next) return &*watched.turn_;
  watched.turn_.reset();
  if (watched.is_more_) {
    watched.is_behind_ = true;
    return nullptr;
  }
  auto& news = watched.news_;
  while (!news.empty() && news.front()->end() <= watched.at_.next) {
    watched.news_count_ -= static_cast<std::size_t>(news.front()->end() - news.front()->first());
    news.pop_front();
  }
  if (!news.empty() && news.front()->first() <= watched.at_.next) return news.front().get();
  watched.is_behind_ = watched.news_end_ > watched.at_.next;
  return nullptr;
}

EventStream::Next EventStream::NextOf(Watched& watched) {
  Next next;
  std::size_t bytes = 0;
  const EncodedEvents* piece = PieceOf(watched);
  for (; piece != nullptr && bytes < kResponseBytesMax; piece = PieceOf(watched)) {
    EncodedEvents::Part part = piece->From(watched.at_.next, kResponseBytesMax - bytes, message_);
    bytes += part.bytes.size();
    watched.at_.next = part.end;
    watched.is_finished_ = watched.is_finished_ || (part.end == piece->end() && piece->finishes());
    next.events.push_back(std::move(part.bytes));
  }
  next.is_all = piece == nullptr && !watched.is_behind_;
  next.is_finished = next.is_all && watched.is_finished_;
  return next;
}

void EventStream::WriteNext(Watched& watched) {
  Next next = NextOf(watched);
  const bool is_all = next.is_all;
  const bool is_finished = next.is_finished;
  if (const auto response = ResponseOf(watched, std::move(next))) Write(*response);
  if (is_finished) {
    watches_.erase(watched.id);
    WatchEnded();
  } else if (is_all) {
    AllSent(watched);
  } else {
    MakeReady(watched);
  }
}

void EventStream::EndWatch(Watched& watched, const Error& error) {
  const std::optional<grpc::ByteBuffer> response = ResponseTo(watched, error);
  if (!response) return End(tl::unexpected<Error>(error));
  Write(*response);
  watches_.erase(watched.id);
  WatchEnded();
}

void EventStream::Write(const grpc::ByteBuffer& response) {
  looks_ = 0;
  call_.Write(response);
}

}  // namespace espalier::master
