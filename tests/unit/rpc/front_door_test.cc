// What comes in by the front door: large bodies, and many streams.
#include <fstream>

#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/study.pb.h"
#include "master/rpc/limits.h"
#include "master/rpc/stream_places.h"
#include "tests/support/toy_node.h"
#include "tests/unit/rpc/service.h"

namespace espalier::master::testing {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

// Of this process since Reset, at most: of a master too, which lives in it.
struct PeakMemory {
  static void Reset() { std::ofstream("/proc/self/clear_refs") << "5"; }
  static std::size_t Bytes() {
    std::ifstream status("/proc/self/status");
    std::string word;
    std::size_t kibibytes = 0;
    while (status >> word) {
      if (word == "VmHWM:") status >> kibibytes;
    }
    return kibibytes * 1024;
  }
};

// So many trials without a word in them: two bytes each on the wire, and a hundred times as much once they are read.
std::string EmptyTrials(std::size_t bytes) {
  std::string body;
  while (body.size() < bytes) body += std::string("\x1a\x00", 2);
  return body;
}

// The same within a study of a forecast.
std::string NestedTrials() {
  std::string study;
  while (study.size() < 20 * kMebibyte) study += std::string("\x12\x00", 2);
  std::string body = "\x0a";  // its length follows, seven bits a byte
  for (std::size_t left = study.size(); left > 0; left >>= 7) {
    body += static_cast<char>((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
  }
  return body + study;
}

}  // namespace

TEST_CASE("a large body of somebody whom nobody knows costs the master no memory", "[large]") {
  Service service;
  const std::string body = EmptyTrials(20 * kMebibyte);
  v1::SubmitRequest parsed;
  REQUIRE(parsed.ParseFromString(EmptyTrials(100)));
  REQUIRE(parsed.new_trials_size() == 50);
  PeakMemory::Reset();
  const std::size_t before = PeakMemory::Bytes();
  RawCall call(service.channel, "/espalier.v1.StudyService/Submit", std::nullopt);
  call.WriteBytes(body);
  CHECK(call.Finish().code == grpc::StatusCode::UNAUTHENTICATED);
  CHECK(PeakMemory::Bytes() - before < 8 * body.size());  // its copies on the caller's side, and none beyond
}

TEST_CASE("a request over the limit is refused with the limit and what to do, and others are served as before",
          "[large]") {
  Service service;
  const std::string ann = service.AddUser("ann", "vision");
  RawCall call(service.channel, "/espalier.v1.StudyService/Submit", "Bearer " + ann);
  call.WriteBytes(EmptyTrials(kRequestBytesMax + 2));
  const Outcome outcome = call.Finish();
  CHECK(outcome.code == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(outcome.message == "a request has at most 33554432 bytes, got 33554434; ask for less at once");
  CHECK(service.Call(ann, "InspectService/ListStudies", v1::ListStudiesRequest()).code == grpc::StatusCode::OK);
}

TEST_CASE("a request that would take much more memory than it has bytes is refused before it is read, at every depth",
          "[large]") {
  Service service;
  const std::string ann = service.AddUser("ann", "vision");
  for (const auto& [method, body] : {std::pair("StudyService/Submit", EmptyTrials(20 * kMebibyte)),
                                     std::pair("InspectService/Forecast", NestedTrials())}) {
    PeakMemory::Reset();
    const std::size_t before = PeakMemory::Bytes();
    RawCall call(service.channel, std::string("/espalier.v1.") + method, "Bearer " + ann);
    call.WriteBytes(body);
    const Outcome outcome = call.Finish();
    CHECK(outcome.code == grpc::StatusCode::RESOURCE_EXHAUSTED);
    CHECK(outcome.message == "a request has fewer than 2000000 messages and texts within it; ask for less at once");
    CHECK(PeakMemory::Bytes() - before < 8 * body.size());
  }
}

TEST_CASE("a batch of more joint segments than one may have is refused with the field, and one large trial is not") {
  Service service;
  const std::string ann = service.AddUser("ann", "vision");
  const ToyNode node(service.channel, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
  v1::CreateStudyRequest create;
  create.set_request_id("create");
  create.mutable_study()->set_name("large");
  create.mutable_study()->set_trainer("toy");
  create.mutable_study()->set_metric("score");
  v1::SubmitRequest submit;
  submit.set_study_id(service.Get<v1::CreateStudyResponse>(ann, "StudyService/CreateStudy", create).study_id());
  const auto add = [&](int segments) {
    v1::NewTrial& trial = *submit.add_new_trials();
    (*trial.mutable_sequences())["lr"] = "CyclicLR(0.1, 0.2, 1, 1)";  // a segment each step
    trial.set_steps(1);
    trial.set_horizon_steps(segments);
  };
  for (int i = 0; i < 20; ++i) add(1'000);
  submit.set_request_id("20 thousand");
  CHECK(service.Get<v1::SubmitResponse>(ann, "StudyService/Submit", submit).trial_ids_size() == 20);
  add(1);
  submit.set_request_id("20 thousand and one");
  const Outcome refused = service.Call(ann, "StudyService/Submit", submit);
  CHECK(refused.code == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(
      refused.message ==
      "the new trials of one batch have at most 20000 joint segments together, unless there is one alone; submit these "
      "in several batches");
  v1::ErrorDetail detail;
  REQUIRE(detail.ParseFromString(refused.details));
  CHECK(detail.field() == "trials");
  submit.clear_new_trials();
  add(30'000);
  submit.set_request_id("one trial of 30 thousand");
  CHECK(service.Get<v1::SubmitResponse>(ann, "StudyService/Submit", submit).trial_ids_size() == 1);
}

TEST_CASE("a call without a body, and one with another message's, is told so") {
  Service service;
  const std::string ann = service.AddUser("ann", "vision");
  RawCall without(service.channel, "/espalier.v1.StudyService/Submit", "Bearer " + ann);
  without.WritesDone();
  const Outcome nothing = without.Finish();
  CHECK(nothing.code == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(nothing.message == "the call ended before its request came");
  RawCall other(service.channel, "/espalier.v1.StudyService/Submit", "Bearer " + ann);
  other.WriteBytes("\xff\xff");
  const Outcome garbled = other.Finish();
  CHECK(garbled.code == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(garbled.message == "the request is no espalier.v1.SubmitRequest");
}

TEST_CASE("who watches too much at once is told the limit, others are not, and a place that is given up is free") {
  Service service;
  const std::string ann = service.AddUser("ann", "vision");
  const std::string bob = service.AddUser("bob", "vision");
  const ToyNode node(service.channel, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
  v1::CreateStudyRequest create;
  create.set_request_id("create");
  create.mutable_study()->set_name("watched");
  create.mutable_study()->set_trainer("toy");
  create.mutable_study()->set_metric("score");
  v1::WatchRequest watch;
  watch.set_study_id(service.Get<v1::CreateStudyResponse>(ann, "StudyService/CreateStudy", create).study_id());
  const auto begin = [&](const std::string& token) {
    auto call = std::make_unique<RawCall>(service.channel, "/espalier.v1.StudyService/Watch", watch, "Bearer " + token);
    call->WritesDone();
    return call;
  };
  std::vector<std::unique_ptr<RawCall>> watches;
  for (int i = 0; i < kWatchesPerUserMax; ++i) {
    watches.push_back(begin(ann));
    REQUIRE(watches.back()->Read().has_value());  // the study's progress: its place is taken
  }
  const Outcome refused = begin(ann)->Finish();
  CHECK(refused.code == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(refused.message == "ann has 256 watches open, and nobody may have more; end some of them first");
  CHECK(begin(bob)->Read().has_value());
  CHECK(service.Call(ann, "InspectService/ListStudies", v1::ListStudiesRequest()).code == grpc::StatusCode::OK);

  watches.back()->Cancel();
  watches.pop_back();
  while (!begin(ann)->Read().has_value()) std::this_thread::yield();  // soon: its thread has to notice
}

TEST_CASE("no more streams of one kind are open than its limit, for each user") {
  StreamPlaces places("streams", 2);
  auto first = places.Take("ann");
  const auto second = places.Take("ann");
  REQUIRE(second.has_value());
  const auto third = places.Take("ann");
  REQUIRE_FALSE(third.has_value());
  CHECK(third.error().code == ErrorCode::kResourceExhausted);
  CHECK(third.error().message == "ann has 2 streams open, and nobody may have more; end some of them first");
  CHECK(places.Take("bob").has_value());
  first->reset();
  CHECK(places.Take("ann").has_value());
}

TEST_CASE("before the state is loaded nobody is refused, only put off") {
  Service service(/*start=*/false);
  CHECK(service.Call(service.root, "InspectService/ListStudies", v1::ListStudiesRequest()).code ==
        grpc::StatusCode::UNAVAILABLE);
  service.Start();
  service.AddUser("ann", "vision");  // what is admitted follows what is durable
  CHECK(service.Call(service.root, "InspectService/ListStudies", v1::ListStudiesRequest()).code ==
        grpc::StatusCode::OK);
}

}  // namespace espalier::master::testing
