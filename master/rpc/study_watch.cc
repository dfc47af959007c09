#include "master/rpc/study_watch.h"

#include <algorithm>
#include <utility>

#include "espalier/v1/study.pb.h"
#include "master/core/views/study_progress.h"
#include "master/rpc/convert.h"

namespace espalier::master {
namespace {

constexpr Seconds kProgressPeriod{0.5};
constexpr double kProgressShareMax = 0.02;  // of the event loop's time that counting may take
constexpr Seconds kLookPeriod{0.5};
// To write to one watcher takes the pump some 20 microseconds, and whoever reads it as long. A study's watchers are
// written to for a part of the time alone, however many they are, some at a time: other calls find a processor.
constexpr Seconds kTimeAWatcher{100e-6};
constexpr int kBroughtAtOnceMax = 16;
constexpr int kReadsAtOnceMax = 8;    // on the event loop, each of at most 1,000 events: other calls wait for no more
constexpr int kServedAtOnceMax = 64;  // streams, before gRPC is asked what it has completed

}  // namespace

struct StudyWatch::Counted {
  Result<void> outcome;
  std::optional<StudyProgress> progress;  // none: there is no such study any more
  Seconds took{0};
};

StudyWatch::StudyWatch(MasterPort& master, PastStudies& pasts, Hand hand, std::function<Seconds()> now)
    : master_(master), pasts_(pasts), hand_(std::move(hand)), now_(std::move(now)), look_at_(now_() + kLookPeriod) {}

void StudyWatch::Announce(EventsAdded added) {
  {
    const std::lock_guard lock(mutex_);
    if (!watched_.contains(added.study)) return;
  }
  hand_([this, added = std::move(added)]() mutable { Take(std::move(added)); });
}

void StudyWatch::Stop() {
  hand_([this] {
    stopped_ = true;
    std::vector<Stream*> streams;
    for (const auto& [id, stream] : streams_) streams.push_back(stream);
    for (Stream* stream : streams) stream->Stop();
  });
}

Seconds StudyWatch::Work() {
  const Seconds now = now_();
  while (!bring_.empty() && bring_.begin()->first <= now) {
    const StudyId study = bring_.begin()->second;
    Bring(study, feeds_.at(study));
  }
  if (!is_counting_ && !count_.empty() && std::max(count_.begin()->first, count_free_at_) <= now) {
    const StudyId study = count_.begin()->second;
    StartCount(study, feeds_.at(study));
  }
  if (look_at_ <= now) Look();
  Serve();
  return NextDue();
}

Seconds StudyWatch::NextDue() const {
  if (!ready_.empty()) return Seconds{0};
  Seconds due = look_at_;
  if (!bring_.empty()) due = std::min(due, bring_.begin()->first);
  if (!is_counting_ && !count_.empty()) due = std::min(due, std::max(count_.begin()->first, count_free_at_));
  return std::max(Seconds{0}, due - now_());
}

StudyWatch::StreamId StudyWatch::Know(Stream& stream) {
  streams_.emplace(++last_stream_, &stream);
  MakeReady(last_stream_);
  return last_stream_;
}

void StudyWatch::Forget(StreamId stream) { streams_.erase(stream); }

void StudyWatch::MakeReady(StreamId stream) {
  if (is_ready_.insert(stream).second) ready_.push_back(stream);
}

void StudyWatch::Serve() {
  for (int i = 0; i < kServedAtOnceMax && !ready_.empty(); ++i) {
    const StreamId id = ready_.front();
    ready_.pop_front();
    is_ready_.erase(id);
    const auto stream = streams_.find(id);
    if (stream == streams_.end()) continue;
    if (stopped_) {
      stream->second->Stop();
    } else {
      stream->second->Serve();
    }
  }
}

void StudyWatch::Look() {
  look_at_ = now_() + kLookPeriod;
  for (const auto& [id, stream] : streams_) stream->Look();
}

void StudyWatch::Add(StudyId study, Watcher& watcher) {
  feeds_[study].watchers.insert(&watcher);
  const std::lock_guard lock(mutex_);
  watched_.insert(study);
}

void StudyWatch::Remove(StudyId study, Watcher& watcher) {
  const auto found = feeds_.find(study);
  Feed& feed = found->second;
  feed.watchers.erase(&watcher);
  feed.told_progress.erase(&watcher);
  if (feed.told_progress.empty()) {
    count_.erase({feed.count_at, study});
    feed.progress.reset();  // it will be out of date
    feed.is_progress_new = feed.is_progress_brought = false;
  }
  if (!feed.watchers.empty()) return;
  bring_.erase({feed.bring_at, study});
  feeds_.erase(found);
  const std::lock_guard lock(mutex_);
  watched_.erase(study);
}

void StudyWatch::TellProgress(StudyId study, Watcher& watcher) {
  Feed& feed = feeds_.at(study);
  if (!feed.told_progress.insert(&watcher).second) return;
  const bool is_told_soon =
      feed.is_progress_new || (feed.is_progress_brought && feed.last != nullptr && std::less()(feed.last, &watcher));
  if (feed.progress && !is_told_soon) watcher.TakeProgress(*feed.progress);
  if (!feed.is_counted) count_.emplace(feed.count_at, study);
}

void StudyWatch::Take(EventsAdded added) {
  const auto found = feeds_.find(added.study);
  if (found == feeds_.end() || added.events.empty()) return;
  Feed& feed = found->second;
  EventsAdded& news = feed.news;
  if (!news.events.empty() && added.first == news.first + std::ssize(news.events)) {
    news.events.insert(news.events.end(), std::make_move_iterator(added.events.begin()),
                       std::make_move_iterator(added.events.end()));
    news.times.insert(news.times.end(), added.times.begin(), added.times.end());
  } else {
    news = std::move(added);  // watchers find out what they have missed
  }
  bring_.emplace(feed.bring_at, news.study);
}

void StudyWatch::Bring(StudyId study, Feed& feed) {
  bring_.erase({feed.bring_at, study});
  if (feed.last == nullptr) {
    feed.events.reset();
    if (!feed.news.events.empty()) {
      feed.events = std::make_shared<const EncodedEvents>(feed.news.first, std::exchange(feed.news.events, {}),
                                                          std::exchange(feed.news.times, {}));
    }
    feed.is_progress_brought = std::exchange(feed.is_progress_new, false) && feed.progress;
  }
  int count = 0;
  auto watcher = feed.watchers.upper_bound(feed.last);
  for (; watcher != feed.watchers.end() && count < kBroughtAtOnceMax; ++watcher, ++count) {
    feed.last = *watcher;
    if (feed.events != nullptr) (*watcher)->Take(feed.events);
    if (feed.is_progress_brought && feed.told_progress.contains(*watcher)) (*watcher)->TakeProgress(*feed.progress);
  }
  if (watcher == feed.watchers.end()) {
    feed.last = nullptr;
    feed.events.reset();
  }
  feed.bring_at = now_() + kTimeAWatcher * count;
  if (feed.last != nullptr || feed.HasNews()) bring_.emplace(feed.bring_at, study);
}

void StudyWatch::StartCount(StudyId study, Feed& feed) {
  count_.erase({feed.count_at, study});
  is_counting_ = feed.is_counted = true;
  const auto counted = std::make_shared<Counted>();
  const auto count = [counted, study, now = now_](const MasterState& state) {
    const Seconds begun = now();
    if (state.studies.contains(study)) counted->progress = ProgressOf(state, study, Now());
    counted->took = now() - begun;
  };
  master_.PostRead(count, [this, counted, study](Result<void> outcome) {
    counted->outcome = std::move(outcome);
    hand_([this, counted, study] { TakeCount(study, *counted); });
  });
}

void StudyWatch::TakeCount(StudyId study, const Counted& counted) {
  is_counting_ = false;
  const Seconds now = now_();
  count_free_at_ = now + counted.took / kProgressShareMax;
  const auto found = feeds_.find(study);
  if (found == feeds_.end()) return;
  Feed& feed = found->second;
  count_.erase({feed.count_at, study});  // it is there if everybody had gone meanwhile, and somebody has come
  feed.is_counted = false;
  feed.count_at = now + kProgressPeriod;
  if (!feed.told_progress.empty()) count_.emplace(feed.count_at, study);
  if (!counted.outcome.has_value()) {
    for (Watcher* watcher : feed.told_progress) watcher->Fail(counted.outcome.error());
  } else if (counted.progress) {
    v1::WatchResponse response;
    *response.mutable_progress() = ToProto(*counted.progress);
    feed.progress = grpc::Slice(response.SerializeAsString());
    feed.is_progress_new = true;
    bring_.emplace(feed.bring_at, study);
  }
}

void StudyWatch::Read(StreamId stream, Asked asked) {
  readings_.push_back({stream, std::move(asked)});
  StartReads();
}

void StudyWatch::StartReads() {
  while (reading_count_ < kReadsAtOnceMax && !readings_.empty()) {
    const Reading next = std::move(readings_.front());
    readings_.pop_front();
    if (!streams_.contains(next.stream)) continue;
    ++reading_count_;
    Begin(next);
  }
}

void StudyWatch::Begin(const Reading& reading) {
  const auto is_retired = std::make_shared<bool>(false);
  const auto read = [reading, is_retired](const MasterState& state) {
    *is_retired = IsRetired(state, reading.asked.study) && reading.asked.may_see(state);
    if (!*is_retired) reading.asked.read(state);
  };
  const auto end = [this, reading](const Result<void>& outcome) {
    hand_([this, reading, outcome] { EndRead(reading, outcome); });
  };
  const auto look_at_past = [this, reading, end](const Result<PastStudy>& past) {
    if (!past.has_value()) return end(tl::unexpected<Error>(past.error()));
    hand_([this, reading, past = *past] {
      reading.asked.read(*past);
      EndRead(reading, {});
    });
  };
  master_.PostRead(read, [this, reading, is_retired, end, look_at_past](const Result<void>& outcome) {
    outcome.has_value() && *is_retired ? pasts_.Ask(reading.asked.study, look_at_past) : end(outcome);
  });
}

void StudyWatch::EndRead(const Reading& reading, const Result<void>& outcome) {
  --reading_count_;
  if (streams_.contains(reading.stream)) reading.asked.done(outcome);
  StartReads();
}

}  // namespace espalier::master
