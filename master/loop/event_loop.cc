#include "master/loop/event_loop.h"

#include <algorithm>
#include <future>

#include "base/check.h"
#include "base/failpoint.h"
#include "master/loop/error_id.h"

namespace espalier::master {
namespace {

// For waiting: rounded up, so that nobody wakes just before its time.
std::chrono::microseconds Duration(Seconds seconds) { return std::chrono::ceil<std::chrono::microseconds>(seconds); }

void Stamp(Event& event, Moment arrived) {
  std::visit(
      [&](auto& any) {
        if constexpr (requires { any.arrived; }) any.arrived = arrived;
      },
      event);
}

// Calls it; "" if it returned, else what it has thrown.
std::string WhatIsThrown(const std::function<void()>& function) {
  try {
    function();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "not a std::exception";
  }
  return "";
}

// Trying again later may help; with the others it cannot.
bool MayPass(const Error& error) { return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kAborted; }

Error Stopping() { return {ErrorCode::kUnavailable, "the master stops, try again", {}}; }

}  // namespace

EventLoop::EventLoop(StateStore& store, EffectRunner& effects, EventHandler handler, EventLoopSettings settings)
    : store_(store),
      effects_(effects),
      handler_(std::move(handler)),
      settings_(std::move(settings)),
      group_(settings_.commit),
      isolation_(settings_.alone_for) {}

Result<void> EventLoop::Run() {
  commit_thread_.emplace(
      store_, [this](Release release) { Let(std::move(release)); },
      [this](Result<void> committed) {
        {
          const std::lock_guard lock(mutex_);
          commit_ended_ = std::move(committed);
        }
        changed_.notify_one();
      });
  Result<void> result;
  while (true) {
    result = LoadState();
    if (!result) break;
    result = HandleUntilStopOrFailure();
    if (result || result.error().code == ErrorCode::kFailedPrecondition) break;
    result = DropAndIsolate(result.error());
    if (!result) break;
  }
  DropAll(result ? Stopping() : Unavailable(LogLevel::kError, "the master exits", result.error()), /*last=*/true);
  commit_thread_.reset();
  return result;
}

void EventLoop::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
}

void EventLoop::Post(Event event) {
  Stamp(event, settings_.moment());
  const std::optional<CallId> call = CallOf(event);
  if (!Enqueue(std::move(event)) && call) RunEffect(Reply{*call, Stopping()});
}

void EventLoop::PostRead(std::function<void(const MasterState&)> read, Done done) {
  if (!Enqueue(ReadRequest{std::move(read), done})) done(tl::unexpected<Error>(Stopping()));
}

bool EventLoop::Enqueue(Item item) {
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return false;
    if (const auto* event = std::get_if<Event>(&item)) open_calls_.Note(*event);
    queue_.push_back(std::move(item));
  }
  changed_.notify_one();
  return true;
}

std::size_t EventLoop::waiting() {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

Result<void> EventLoop::Read(const std::function<void(const MasterState&)>& read) {
  std::promise<Result<void>> outcome;
  PostRead(read, [&](Result<void> done) { outcome.set_value(std::move(done)); });
  return outcome.get_future().get();
}

Result<void> EventLoop::LoadState() {
  for (Seconds pause = settings_.load_retry_min;; pause = std::min(pause * 2, settings_.load_retry_max)) {
    const Seconds begun = MonotonicNow();
    Result<MasterState> loaded = store_.Load();
    if (loaded) {
      state_ = *std::move(loaded);
      settings_.log({LogLevel::kInfo,
                     "state loaded",
                     {{"studies", state_.studies.size()},
                      {"trials", state_.trials.size()},
                      {"runs", state_.active_runs.size()},
                      {"seconds", (MonotonicNow() - begun).count()}}});
      Handle(Recovered{settings_.moment()});
      return {};
    }
    if (!MayPass(loaded.error())) return tl::unexpected<Error>(loaded.error());
    const Error away = Unavailable(LogLevel::kWarning, "the database is away", loaded.error());
    const Moment until = settings_.moment() + pause;
    while (settings_.moment() < until) {
      DropAll(away);
      std::unique_lock lock(mutex_);
      if (stopping_) return {};
      changed_.wait_for(lock, Duration(until - settings_.moment()), [&] { return stopping_ || !queue_.empty(); });
    }
  }
}

Result<void> EventLoop::HandleUntilStopOrFailure() {
  next_tick_ = settings_.moment() + settings_.tick_every;
  while (std::optional<Item> item = Next()) {
    if (auto* event = std::get_if<Event>(&*item)) {
      Take(std::move(*event));
    } else {
      Handle(std::get<ReadRequest>(*std::move(item)));
    }
  }
  if (!commit_failure_) return {};
  return tl::unexpected<Error>(*std::exchange(commit_failure_, std::nullopt));
}

std::optional<EventLoop::Item> EventLoop::Next() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (const auto ended = std::exchange(commit_ended_, std::nullopt)) {
      if (!*ended) {
        group_.Failed();
        commit_failure_ = ended->error();
        return std::nullopt;
      }
      group_.Committed();
    }
    StartCommitIfDue();
    if (stopping_ && group_.IsIdle()) return std::nullopt;
    QueueTick();
    if (MayTake() && !queue_.empty()) {
      Item item = std::move(queue_.front());
      queue_.pop_front();
      return item;
    }
    AwaitChange(lock);
  }
}

bool EventLoop::IsAlone() const { return isolation_.IsAlone(settings_.moment()); }

bool EventLoop::MayTake() const { return !stopping_ && group_.MayHandle(IsAlone()); }

void EventLoop::StartCommitIfDue() {
  const auto time = group_.CommitTime(IsAlone());
  if (time && (stopping_ || settings_.moment() >= *time)) commit_thread_->Start(group_.Start());
}

void EventLoop::QueueTick() {
  const Moment now = settings_.moment();
  if (settings_.tick_every <= Seconds{0} || now < next_tick_) return;
  queue_.emplace_back(Tick{.arrived = now,
                           .heard_until = next_tick_ - settings_.tick_every,
                           .paused = now - next_tick_ > settings_.pause_min});
  next_tick_ = now + settings_.tick_every;
}

void EventLoop::AwaitChange(std::unique_lock<std::mutex>& lock) {
  std::optional<Moment> wake = group_.CommitTime(IsAlone());
  if (settings_.tick_every > Seconds{0}) wake = wake ? std::min(*wake, next_tick_) : next_tick_;
  if (wake) {
    changed_.wait_for(lock, Duration(*wake - settings_.moment()));
  } else {
    changed_.wait(lock);
  }
}

void EventLoop::Take(Event event) {
  std::vector<Event> parts = isolation_.Parts(std::move(event), state_, settings_.moment());
  if (parts.empty()) return;
  if (parts.size() > 1) {
    const std::lock_guard lock(mutex_);
    queue_.insert(queue_.begin(), std::make_move_iterator(parts.begin() + 1), std::make_move_iterator(parts.end()));
  }
  Handle(parts.front());
}

void EventLoop::Handle(const Event& event) {
  alone_ = IsAlone() ? std::optional(OriginOf(event, state_)) : std::nullopt;
  group_.Handled(handler_(state_, event, settings_.now()), settings_.moment());
}

void EventLoop::Handle(ReadRequest request) {
  if (const std::string thrown = WhatIsThrown([&] { request.read(state_); }); !thrown.empty()) {
    const std::string id = NewErrorId();
    settings_.log({LogLevel::kError, "a read failed", {{"error_id", id}, {"why", thrown}}});
    return request.done(MakeError(ErrorCode::kInternal, "this failed; the master's log says why under error id " + id));
  }
  const ReadId read = std::exchange(next_read_, ReadId{next_read_.value + 1});
  if (group_.Seen(read, settings_.moment())) return request.done({});
  const std::lock_guard lock(mutex_);
  open_reads_.emplace(read, std::move(request.done));
}

Result<void> EventLoop::DropAndIsolate(const Error& error) {
  const Error why = Unavailable(LogLevel::kError, "the outcome is unknown", error);
  if (const auto isolated = isolation_.Failed(error, alone_, settings_.moment())) {
    const std::string id = NewErrorId();
    settings_.log({LogLevel::kError,
                   "this cannot be stored, and is not handled again",
                   {{"error_id", id}, {"event", Print(*isolated)}, {"why", error.message}}});
    if (*isolated == Origin(OwnEvent::kRecovered)) {
      return MakeError(ErrorCode::kInternal, "what recovery changes cannot be stored: " + error.message);
    }
    if (const auto* call = std::get_if<CallId>(&*isolated)) {
      Answer(*call,
             {ErrorCode::kInternal, "this cannot be stored; the master's log says why under error id " + id, {}});
    }
  }
  DropAll(why);
  return {};
}

Error EventLoop::Unavailable(LogLevel level, const std::string& what, const Error& reason) {
  const std::string id = NewErrorId();
  settings_.log({level, what, {{"error_id", id}, {"why", reason.message}}});
  return {ErrorCode::kUnavailable, what + ", try again; the master's log says more under error id " + id, {}};
}

void EventLoop::Answer(CallId call, Error error) {
  const Effect reply = Reply{call, std::move(error)};
  {
    const std::lock_guard lock(mutex_);
    if (!open_calls_.Has(call)) return;
    open_calls_.Note(reply);
  }
  RunEffect(reply);
}

void EventLoop::DropAll(const Error& why, bool last) {
  ESPALIER_CHECK(!group_.IsCommitting()) << "a batch is on its way";
  state_ = {};
  group_.Drop();
  alone_.reset();
  std::deque<Item> queue;
  std::map<ReadId, Done> reads;
  std::vector<Effect> told;
  {
    const std::lock_guard lock(mutex_);
    finished_ = last;
    queue.swap(queue_);
    reads.swap(open_reads_);
    told = open_calls_.Drop(why);
  }
  const Result<void> failed = tl::unexpected<Error>(why);
  for (const auto& [read, done] : reads) done(failed);
  for (Item& item : queue) {
    if (auto* request = std::get_if<ReadRequest>(&item)) request->done(failed);
  }
  for (const Effect& effect : told) RunEffect(effect);
}

void EventLoop::Let(Release release) {
  if (const auto* read = std::get_if<ReadId>(&release)) {
    std::unique_lock lock(mutex_);
    const auto open = open_reads_.extract(*read);
    lock.unlock();
    return open.mapped()({});
  }
  const Effect& effect = std::get<Effect>(release);
  if (const auto* line = std::get_if<LogLine>(&effect)) return settings_.log(*line);
  {
    const std::lock_guard lock(mutex_);
    open_calls_.Note(effect);
  }
  RunEffect(effect);
  ESPALIER_FAILPOINT("effect.after");
}

void EventLoop::RunEffect(const Effect& effect) {
  const std::lock_guard lock(effect_mutex_);
  effects_.Run(effect);
}

}  // namespace espalier::master
