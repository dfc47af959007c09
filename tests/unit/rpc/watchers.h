// Streams that watch studies, without gRPC: a state that the test writes, a clock that it sets, callers that take what
// is written when it says so.
#pragma once

#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "espalier/v1/study.pb.h"
#include "master/rpc/one_study_stream.h"
#include "master/rpc/study_watch.h"
#include "sim/memory_history_store.h"

namespace espalier::master::testing {

// A caller of a stream, and what he was sent.
struct FakeCall final : StreamCall {
  Result<Caller> Admit() const override { return admitted; }
  Result<void> Parse(grpc::ByteBuffer& body, google::protobuf::Message& request) const override {
    REQUIRE(request.ParseFromString(BytesOf(body)));
    return {};
  }
  void Write(const grpc::ByteBuffer& response) override {
    REQUIRE_FALSE(is_being_written);
    is_being_written = true;
    REQUIRE(responses.emplace_back().ParseFromString(BytesOf(response)));
    for (const v1::StudyEvent& event : responses.back().events()) numbers.push_back(event.number());
  }
  bool is_writing() const override { return is_being_written; }
  void End(const Result<void>& outcome) override {
    if (!ended) ended = outcome;
  }
  void Break(const Error& error) override { broken = error; }

  static std::string BytesOf(const grpc::ByteBuffer& buffer) {
    std::vector<grpc::Slice> slices;
    REQUIRE(buffer.Dump(&slices).ok());
    std::string bytes;
    for (const grpc::Slice& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    return bytes;
  }

  Result<Caller> admitted = Caller{.user = "ann", .team = "vision"};
  bool reads = true;  // else what is written stays on its way
  bool is_being_written = false;
  std::vector<v1::WatchResponse> responses;
  std::vector<std::int64_t> numbers;  // of the events in them
  std::optional<Result<void>> ended;
  std::optional<Error> broken;
};

// A call of Watch.
struct Watching {
  FakeCall call;
  std::unique_ptr<OneStudyStream> stream;

  int ProgressCount() const {
    return static_cast<int>(
        std::ranges::count_if(call.responses, [](const v1::WatchResponse& each) { return each.has_progress(); }));
  }
};

// The state, the event loop, the pump's thread, and who watches.
class Watchers : public MasterPort {
 public:
  explicit Watchers(const std::vector<StudyId>& studies = {StudyId{7}}) {
    for (const StudyId study : studies) {
      state.studies[study] = {.id = study, .user = "ann", .team = "vision"};
      state.events[study];
      state.trial_index[study];
      state.trials_by_study[study];
      state.index.plans_of_study[study];
    }
  }

  Watching& Watch(StudyId study = StudyId{7}, std::int64_t from = 0) {
    Watching& watching = *all.emplace_back(std::make_unique<Watching>());
    watching.stream = std::make_unique<OneStudyStream>(
        watch, tuned, watching.call, nullptr,
        [](const MasterState&, StudyId, const Caller& caller) -> Result<Caller> { return caller; });
    v1::WatchRequest request;
    request.set_study_id(study.value);
    request.set_from_event(from);
    const grpc::Slice bytes(request.SerializeAsString());
    grpc::ByteBuffer body(&bytes, 1);
    REQUIRE(watching.stream->Take(body).has_value());
    return watching;
  }

  // Events that happen, are stored, and are announced, unless nobody is told.
  void Happen(int count, StudyId study = StudyId{7}, bool is_announced = true) {
    std::vector<StudyEvent>& events = state.events[study];
    EventsAdded added{.study = study, .first = std::ssize(events) + 1, .events = {}, .times = {}};
    for (int i = 0; i < count; ++i) added.events.emplace_back(TrialSubmitted{TrialId{added.first + i}});
    added.times.assign(added.events.size(), Time{std::chrono::seconds(added.first)});
    std::vector<Time>& times = state.event_times[study];
    times.insert(times.end(), added.times.begin(), added.times.end());
    events.insert(events.end(), added.events.begin(), added.events.end());
    if (is_announced) watch.Announce(std::move(added));
  }

  // All that is to be done by now, until nothing is left; and the rounds that have begun, unless the clock stands
  // still.
  void Run(bool stands_still = false) {
    while (true) {
      while (!handed.empty()) {
        const auto function = std::move(handed.front());
        handed.pop_front();
        function();
      }
      const Seconds pause = watch.Work();
      bool is_idle = handed.empty() && pause > Seconds{0};
      if (!stands_still && pause < Seconds{0.002}) {
        now += pause;
        is_idle = false;
      }
      for (const auto& each : all) {
        if (each->call.reads && std::exchange(each->call.is_being_written, false)) {
          each->stream->Written();
          is_idle = false;
        }
      }
      if (is_idle) return;
    }
  }
  // The same, for so long; a moment is enough for what waits for some time only because several watch.
  void RunFor(Seconds time) {
    for (const Seconds end = now + time; now < end; now += Seconds{0.25}) Run();
    Run();
  }
  void RunAMoment() { RunFor(Seconds{0.1}); }

  void Post(Event) override {}
  Result<void> Read(const std::function<void(const MasterState&)>&) override { return {}; }
  void PostRead(std::function<void(const MasterState&)> read, std::function<void(Result<void>)> done) override {
    ++reads;
    if (is_away) return done(MakeError(ErrorCode::kUnavailable, "the database is away"));
    read(state);
    done({});
  }

  MasterState state;
  Seconds now{100};
  Seconds look_takes{0};  // at the clock
  int reads = 0;          // of the state
  bool is_away = false;   // the state is loaded anew
  std::deque<std::function<void()>> handed;
  TunedStudies tuned;
  MemoryHistoryStore histories{std::make_shared<MemoryDatabase>()};
  PastStudies pasts{*this, histories};
  StudyWatch watch{*this, pasts, [this](std::function<void()> function) { handed.push_back(std::move(function)); },
                   [this] {
                     now += look_takes;
                     return now;
                   }};
  std::vector<std::unique_ptr<Watching>> all;
};

}  // namespace espalier::master::testing
