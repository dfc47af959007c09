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

std::optional<CallId> CallOf(const Event& event) {
  if (const auto* create = std::get_if<CreateStudyCall>(&event)) return create->call;
  if (const auto* submit = std::get_if<SubmitCall>(&event)) return submit->call;
  if (const auto* cancel = std::get_if<CancelStudyCall>(&event)) return cancel->call;
  if (const auto* more = std::get_if<ContinueTrialCall>(&event)) return more->call;
  if (const auto* add = std::get_if<AddUserCall>(&event)) return add->call;
  if (const auto* remove = std::get_if<RemoveUserCall>(&event)) return remove->call;
  return std::nullopt;
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

Error Unavailable(const std::string& why) { return {ErrorCode::kUnavailable, why, {}}; }

// Acknowledgements and orders to node managers may be late by a moment; clients wait.
bool IsAwaited(const Effect& effect) {
  return std::holds_alternative<Reply>(effect) || std::holds_alternative<EventsAdded>(effect);
}

// Trying again later may help; with the others it cannot.
bool MayPass(const Error& error) { return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kAborted; }

}  // namespace

EventLoop::EventLoop(StateStore& store, EffectRunner& effects, EventHandler handler, EventLoopSettings settings)
    : store_(store), effects_(effects), handler_(std::move(handler)), settings_(std::move(settings)) {}

Result<void> EventLoop::Run() {
  commit_thread_.emplace(store_, [this](const Result<void>& committed) {
    {
      const std::lock_guard lock(mutex_);
      committing_ = false;
      if (!committed) commit_error_ = committed.error();
    }
    changed_.notify_one();
  });
  Result<void> result;
  while (true) {
    result = LoadState();
    if (!result) break;
    result = HandleUntilStopOrFailure();
    if (result || result.error().code == ErrorCode::kFailedPrecondition) break;
    settings_.log({LogLevel::kError, "commit failed, recovering", {{"why", result.error().message}}});
    if (!MayPass(result.error())) Isolate(result.error());
    DropAll(Unavailable("the outcome is unknown, try again: " + result.error().message));
  }
  DropAll(Unavailable(result ? "the master stops" : "the master exits: " + result.error().message), /*last=*/true);
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
  {
    const std::lock_guard lock(mutex_);
    if (!finished_) {
      if (call) waiting_calls_.insert(*call);
      if (const auto* message = std::get_if<NodeMessage>(&event)) sessions_.insert(message->session);
      if (const auto* gone = std::get_if<NodeGone>(&event)) sessions_.erase(gone->session);
      queue_.emplace_back(std::move(event));
      changed_.notify_one();
      return;
    }
  }
  if (call) RunEffect(Reply{*call, Unavailable("the master stops")});
}

void EventLoop::PostRead(std::function<void(const MasterState&)> read, std::function<void(Result<void>)> done) {
  {
    const std::lock_guard lock(mutex_);
    if (!finished_) {
      queue_.emplace_back(ReadRequest{std::move(read), std::move(done)});
      changed_.notify_one();
      return;
    }
  }
  done(tl::unexpected<Error>(Unavailable("the master stops")));
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
    settings_.log({LogLevel::kWarning, "state cannot be loaded yet", {{"why", loaded.error().message}}});
    const Moment until = settings_.moment() + pause;
    while (settings_.moment() < until) {
      DropAll(Unavailable("the database is away, try again: " + loaded.error().message));
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
      Handle(*event);
    } else {
      Handle(std::get<ReadRequest>(*std::move(item)));
    }
  }
  const std::lock_guard lock(mutex_);
  if (!commit_error_) return {};
  const Error error = *std::exchange(commit_error_, std::nullopt);
  return tl::unexpected<Error>(error);
}

std::optional<EventLoop::Item> EventLoop::Next() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (commit_error_) return std::nullopt;
    const auto commit_time = CommitTime();
    if (!committing_ && commit_time && (stopping_ || settings_.moment() >= *commit_time)) {
      committing_ = true;
      is_awaited_ = false;
      commit_thread_->Start(std::exchange(filling_, {}));
    }
    if (stopping_ && !committing_) return std::nullopt;
    const bool takes = !stopping_ && !(MustHandleAlone() && committing_);
    QueueTick();
    if (takes && !queue_.empty()) {
      Item item = std::move(queue_.front());
      queue_.pop_front();
      return item;
    }
    std::optional<Moment> wake;
    if (settings_.tick_every > Seconds{0}) wake = next_tick_;
    if (!committing_ && commit_time) wake = wake ? std::min(*wake, *commit_time) : *commit_time;
    if (wake) {
      changed_.wait_for(lock, Duration(*wake - settings_.moment()));
    } else {
      changed_.wait(lock);
    }
  }
}

void EventLoop::QueueTick() {
  const Moment now = settings_.moment();
  if (settings_.tick_every <= Seconds{0} || now < next_tick_) return;
  queue_.emplace_back(Tick{.arrived = now, .paused = now - next_tick_ > settings_.pause_min});
  next_tick_ = now + settings_.tick_every;
}

std::optional<Moment> EventLoop::CommitTime() const {
  if (filling_.empty()) return std::nullopt;
  const bool at_once = is_awaited_ || MustHandleAlone();
  return at_once ? filling_since_ : filling_since_ + settings_.commit_patience;
}

bool EventLoop::MustHandleAlone() const { return settings_.moment() < alone_until_; }

void EventLoop::Isolate(const Error& refused) {
  alone_until_ = settings_.moment() + settings_.alone_for;
  if (!alone_call_) return;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_calls_.erase(*alone_call_) == 0) return;
  }
  RunEffect(Reply{*alone_call_, Error{refused.code, "this cannot be stored: " + refused.message, refused.field}});
}

void EventLoop::Handle(const Event& event) {
  alone_call_ = MustHandleAlone() ? CallOf(event) : std::nullopt;
  Transition transition = handler_(state_, event, settings_.now());
  if (filling_.empty()) filling_since_ = settings_.moment();
  is_awaited_ |= std::any_of(transition.effects.begin(), transition.effects.end(), IsAwaited);
  std::move(transition.edit.begin(), transition.edit.end(), std::back_inserter(filling_.edit));
  for (Effect& effect : transition.effects) {
    filling_.releases.push_back([this, effect = std::move(effect)](const Result<void>& committed) {
      if (committed) Release(effect);
    });
  }
}

void EventLoop::Handle(ReadRequest request) {
  if (const std::string thrown = WhatIsThrown([&] { request.read(state_); }); !thrown.empty()) {
    const std::string id = NewErrorId();
    settings_.log({LogLevel::kError, "a read failed", {{"error_id", id}, {"why", thrown}}});
    return request.done(MakeError(ErrorCode::kInternal, "this failed; the master's log says why under error id " + id));
  }
  if (IsAllDurable()) return request.done({});
  if (filling_.empty()) filling_since_ = settings_.moment();
  is_awaited_ = true;
  filling_.releases.push_back(std::move(request.done));
}

bool EventLoop::IsAllDurable() {
  const std::lock_guard lock(mutex_);
  return filling_.empty() && !committing_ && !commit_error_;
}

void EventLoop::Release(const Effect& effect) {
  if (const auto* line = std::get_if<LogLine>(&effect)) return settings_.log(*line);
  {
    const std::lock_guard lock(mutex_);
    if (const auto* reply = std::get_if<Reply>(&effect)) waiting_calls_.erase(reply->call);
    if (const auto* end = std::get_if<EndSession>(&effect)) sessions_.erase(end->session);
  }
  RunEffect(effect);
  ESPALIER_FAILPOINT("effect.after");
}

void EventLoop::RunEffect(const Effect& effect) {
  const std::lock_guard lock(effect_mutex_);
  effects_.Run(effect);
}

void EventLoop::DropAll(const Error& why, bool last) {
  state_ = {};
  Batch dropped = std::exchange(filling_, {});
  is_awaited_ = false;
  std::deque<Item> queue;
  std::set<CallId> calls;
  std::set<SessionId> sessions;
  {
    const std::lock_guard lock(mutex_);
    ESPALIER_CHECK(!committing_) << "a batch is in flight";
    finished_ = last;
    queue.swap(queue_);
    calls.swap(waiting_calls_);
    sessions.swap(sessions_);
  }
  const Result<void> failed = tl::unexpected<Error>(why);
  for (const auto& release : dropped.releases) release(failed);
  for (Item& item : queue) {
    if (auto* request = std::get_if<ReadRequest>(&item)) request->done(failed);
  }
  for (const CallId call : calls) RunEffect(Reply{call, why});
  for (const SessionId session : sessions) RunEffect(EndSession{session, "the master recovers: register again"});
}

}  // namespace espalier::master
