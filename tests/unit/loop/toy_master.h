// A master small enough to see through: every call adds a request of its own to the state and is answered; what left
// the loop is written down in order. Commits can be held.
#pragma once

#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "master/loop/event_loop.h"
#include "sim/memory_state_store.h"

namespace espalier::master {

// Opens and shuts; threads wait until it is open.
class Gate {
 public:
  void Shut() { Set(false); }
  void Open() { Set(true); }
  void Pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    --waiting_;
  }
  // Until a thread waits here.
  void AwaitWaiting() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ > 0 && !open_; });
  }

 private:
  void Set(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int waiting_ = 0;
};

class Recorder : public EffectRunner {
 public:
  void Run(const Effect& effect) override {
    const std::lock_guard lock(mutex_);
    if (on_effect) on_effect(effect);
    effects_.push_back(effect);
    changed_.notify_all();
  }
  std::vector<Effect> Await(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return effects_.size() >= count; });
    return effects_;
  }
  std::vector<Effect> effects() { return Await(0); }

  std::function<void(const Effect&)> on_effect;  // set before the loop runs

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Effect> effects_;
};

inline Event MakeCall(std::int64_t id) {
  return ClientCall{.call = CallId{id}, .request_id = std::to_string(id), .what = CreateStudy{}};
}
// A call that changes nothing.
inline Event Question(std::int64_t id) { return ClientCall{.call = CallId{id}, .what = CancelStudy{}}; }
inline Event Message(std::int64_t session) {
  NodeMessage message;
  message.session = SessionId{session};
  return message;
}

// One that changes something, and is acknowledged.
inline Event Reporting(std::int64_t session) {
  NodeMessage message;
  message.session = SessionId{session};
  message.reports.push_back({.number = session, .run = {LeadershipId{1}, RunId{1}}, .kind = RunEnded{}});
  return message;
}

// The first message of a server's stream, with reports that each change something.
inline NodeMessage Registering(const std::string& server, std::int64_t session,
                               const std::vector<std::int64_t>& reports) {
  NodeMessage message{.session = SessionId{session}};
  message.registration = Registration{.server = server, .incarnation = "1"};
  for (const std::int64_t number : reports) {
    message.reports.push_back({.number = number, .run = {LeadershipId{1}, RunId{1}}, .kind = RunEnded{}});
  }
  return message;
}

inline RequestKey KeyOf(std::int64_t call) { return {StudyId{0}, std::to_string(call)}; }
inline RequestKey KeyOfReport(std::int64_t number) { return {StudyId{1}, std::to_string(number)}; }

// Refuses every edit that has a change that `is_bad`, in words that nobody may hear.
inline auto Refusing(ErrorCode code, std::function<bool(const StateChange&)> is_bad) {
  return [code, is_bad = std::move(is_bad)](const StateEdit& edit) -> std::optional<Error> {
    if (std::none_of(edit.begin(), edit.end(), is_bad)) return std::nullopt;
    return Error{code, "a secret row", {}};
  };
}
inline auto AddsRequest(const RequestKey& key) {
  return [key](const StateChange& change) {
    const auto* request = std::get_if<AddRequest>(&change);
    return request != nullptr && request->key == key;
  };
}

inline Transition ToyReact(MasterState& state, const Event& event, Time) {
  Transition transition;
  const auto* call = std::get_if<ClientCall>(&event);
  if (call != nullptr && std::holds_alternative<CreateStudy>(call->what)) {
    transition.edit.push_back(AddRequest{{StudyId{0}, call->request_id}, {}});
    transition.effects = {LogLine{LogLevel::kInfo, "asked"}, Reply{call->call, StudyCreated{}}};
  } else if (call != nullptr) {
    transition.effects.push_back(Reply{call->call, StudyCancelled{}});
  } else if (const auto* message = std::get_if<NodeMessage>(&event)) {
    if (message->registration) {
      const auto& [server, incarnation] = std::tie(message->registration->server, message->registration->incarnation);
      transition.edit.push_back(SetServer{{.name = server, .incarnation = incarnation, .session = message->session}});
      const Offer offer{.trainer = server};
      if (!state.offers.contains(DigestOf(offer))) transition.edit.push_back(AddOffer{{.offer = offer}});
    }
    for (const Report& report : message->reports) {
      const RequestKey key = KeyOfReport(report.number);
      if (message->refused_reports.contains(report.number) || state.requests.contains(key)) continue;
      transition.edit.push_back(AddRequest{key, {}});
    }
    transition.effects.push_back(SendOrders{message->session, {}});
  } else if (std::holds_alternative<Tick>(event)) {
    transition.effects.push_back(EventsAdded{});
  }
  for (const StateChange& change : transition.edit) Apply(state, change);
  return transition;
}

struct ToyMaster {
  explicit ToyMaster(EventLoopSettings settings = {.tick_every = Seconds{0}, .load_retry_min = Seconds{0.001}})
      : loop(
            store, effects,
            [this](MasterState& state, const Event& event, Time now) {
              if (on_event) on_event(event);
              if (std::holds_alternative<Recovered>(event) && !recovery_edit.empty())
                return Transition{recovery_edit, {}};
              return ToyReact(state, event, now);
            },
            WithLog(std::move(settings))) {
    store.OnCommit([this](const StateEdit& edit) {
      {
        const std::lock_guard lock(mutex);
        commits.push_back(edit);
      }
      gate.Pass();
    });
  }
  ~ToyMaster() {
    gate.Open();
    loop.Stop();
    if (thread.joinable()) thread.join();
  }
  void Start() {
    thread = std::thread([this] { result = loop.Run(); });
  }
  // Stops in good order; what Run returned.
  Result<void> Finish() {
    loop.Stop();
    thread.join();
    return result;
  }
  std::vector<LogLine> Logged() {
    const std::lock_guard lock(mutex);
    return log;
  }
  // Until all that was posted before has been handled (not: committed).
  void AwaitHandled() {
    std::promise<void> handled;
    loop.PostRead([&](const MasterState&) { handled.set_value(); }, [](const Result<void>&) {});
    handled.get_future().get();
  }
  EventLoopSettings WithLog(EventLoopSettings settings) {
    settings.log = [this](const LogLine& line) {
      const std::lock_guard lock(mutex);
      log.push_back(line);
    };
    return settings;
  }
  std::vector<std::size_t> CommitSizes() {
    const std::lock_guard lock(mutex);
    std::vector<std::size_t> sizes;
    for (const StateEdit& edit : commits) sizes.push_back(edit.size());
    return sizes;
  }

  std::shared_ptr<MemoryDatabase> database = std::make_shared<MemoryDatabase>();
  MemoryStateStore store{database};
  Gate gate;  // every commit passes it before it stores
  Recorder effects;
  std::function<void(const Event&)> on_event;  // as it is handled; this and the next: set before the loop runs
  StateEdit recovery_edit;                     // not applied
  std::mutex mutex;
  std::vector<StateEdit> commits;
  std::vector<LogLine> log;
  EventLoop loop;
  Result<void> result;
  std::thread thread;
};

}  // namespace espalier::master
