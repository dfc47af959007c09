// What a crowd costs those who do not watch: 2,000 watchers of one small study that goes on producing events, and
// everybody else's calls meanwhile.
#include <grpcpp/grpcpp.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

#include "base/clock.h"
#include "base/digest.h"
#include "base/token.h"
#include "bench/benches.h"
#include "bench/members.h"
#include "bench/output_of.h"
#include "bench/service.h"
#include "bench/stub_node.h"
#include "client/client.h"
#include "client/connection.h"
#include "espalier/v1/study.grpc.pb.h"

namespace espalier::bench {
namespace {

constexpr std::int64_t kTrials = 10;
constexpr std::int64_t kWatchesAUser = 250;  // of the 256 that a user may have, on a connection of his own

// A call of Watch, read to its end.
struct Watch {
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientAsyncReader<v1::WatchResponse>> reader;
  v1::WatchResponse response;
  grpc::Status status;
  std::int64_t next = 1;
  enum { kOpening, kReading, kEnding } state = kOpening;
  bool is_heard = false;
};

std::shared_ptr<grpc::Channel> OwnConnection(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// What gRPC has done for a watch. False: the watch has ended.
bool GoOn(Watch& watch, bool ok) {
  if (watch.state == Watch::kEnding) {
    if (!watch.status.ok()) GiveUp("a watch ended: " + watch.status.error_message());
    return false;
  }
  if (!ok) {
    watch.state = Watch::kEnding;
    watch.reader->Finish(&watch.status, &watch);
    return true;
  }
  for (const v1::StudyEvent& event : watch.response.events()) {
    if (event.number() != watch.next++) GiveUp("event " + std::to_string(event.number()) + " came out of turn");
  }
  watch.is_heard = watch.state == Watch::kReading;
  watch.state = Watch::kReading;
  watch.response.Clear();
  watch.reader->Read(&watch.response, &watch);
  return true;
}

// Threads of the process with this id.
std::int64_t ThreadsOf(pid_t process) {
  const std::filesystem::directory_iterator tasks("/proc/" + std::to_string(process) + "/task");
  return std::distance(begin(tasks), end(tasks));
}

// Everybody else.
class Others {
 public:
  Others(Client& client, StudyId study) : connection_(client.connection()), study_(study) {
    v1::SubmitRequest request = NextRequest();
    for (std::int64_t i = 1; i <= kTrials; ++i) {
      v1::NewTrial& trial = *request.add_new_trials();
      (*trial.mutable_sequences())["lr"] = "0.0" + std::to_string(i);
      trial.set_steps(1);
      trial.set_horizon_steps(1'000'000);
    }
    const v1::SubmitResponse submitted = Need(connection_.Submit(request));
    trials_.assign(submitted.trial_ids().begin(), submitted.trial_ids().end());
  }

  // Every 20 ms a call of each kind, one of which makes an event.
  void Measure(Figures& figures, const std::string& when, std::int64_t count, const std::string& goal) {
    std::vector<double> get_ms;
    std::vector<double> list_ms;
    std::vector<double> submit_ms;
    const auto timed = [](std::vector<double>& milliseconds, const auto& call) {
      const Seconds begun = MonotonicNow();
      Need(call());
      milliseconds.push_back((MonotonicNow() - begun).count() * 1000);
    };
    v1::GetStudyRequest get;
    get.set_study_id(study_.value);
    for (std::int64_t i = 0; i < count; ++i) {
      timed(get_ms, [&] { return connection_.GetStudy(get); });
      timed(list_ms, [&] { return connection_.ListStudies({}); });
      timed(submit_ms, [&] { return MakeEvent(); });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    for (const auto& [name, milliseconds] :
         {std::pair("get_study", get_ms), std::pair("list_studies", list_ms), std::pair("submit", submit_ms)}) {
      figures.Add(std::string(name) + "_" + when + "_ms_p50", Median(milliseconds));
      figures.Add(std::string(name) + "_" + when + "_ms_p99", Percentile99(milliseconds), goal);
    }
  }

  void CancelStudy() {
    v1::CancelStudyRequest request;
    request.set_request_id("cancel");
    request.set_study_id(study_.value);
    Need(connection_.CancelStudy(request));
  }

 private:
  v1::SubmitRequest NextRequest() {
    v1::SubmitRequest request;
    request.set_request_id("request-" + std::to_string(++requests_));
    request.set_study_id(study_.value);
    return request;
  }
  Result<v1::SubmitResponse> MakeEvent() {
    v1::SubmitRequest request = NextRequest();
    v1::FurtherClaim& claim = *request.add_claims();
    claim.set_trial_id(trials_[static_cast<std::size_t>(requests_ % kTrials)]);
    claim.set_steps(requests_ + 1);
    return connection_.Submit(request);
  }

  Connection& connection_;
  const StudyId study_;
  std::vector<std::int64_t> trials_;
  std::int64_t requests_ = 0;
};

}  // namespace

void WatchStudy(const std::string& address, std::int64_t study, const std::string& ready_file,
                const std::vector<std::string>& tokens) {
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<v1::StudyService::Stub>> stubs;
  std::vector<std::unique_ptr<Watch>> watches;
  v1::WatchRequest request;
  request.set_study_id(study);
  for (const std::string& token : tokens) {
    stubs.push_back(v1::StudyService::NewStub(OwnConnection(address)));
    for (std::int64_t i = 0; i < kWatchesAUser; ++i) {
      Watch& watch = *watches.emplace_back(std::make_unique<Watch>());
      watch.context.AddMetadata(std::string(kTokenMetadata), std::string(kTokenScheme) + token);
      watch.reader = stubs.back()->AsyncWatch(&watch.context, request, &queue, &watch);
    }
  }
  std::size_t heard = 0;
  void* tag = nullptr;
  bool ok = false;
  for (std::size_t open = watches.size(); open > 0 && queue.Next(&tag, &ok);) {
    Watch& watch = *static_cast<Watch*>(tag);
    const bool was_heard = watch.is_heard;
    if (!GoOn(watch, ok)) --open;
    if (watch.is_heard && !was_heard && ++heard == watches.size()) std::ofstream(ready_file) << "ready";
  }
  for (const auto& watch : watches) std::cout << watch->next - 1 << '\n';
}

void RunWatchers(Figures& figures, Size size) {
  const Service service;
  const StubNodes node(service);
  Client client = Need(Client::Connect(service.address()));
  const StudyId study = Need(client.CreateStudy(StubStudy("watched"))).id();
  const std::vector<std::string> tokens = AddMembers(client, size.Of(8, 1));
  const auto watchers = static_cast<std::int64_t>(tokens.size()) * kWatchesAUser;
  Others others(client, study);
  others.Measure(figures, "unwatched", size.Of(500, 5), "");
  const std::int64_t memory = service.MasterMemory();
  const std::int64_t threads = ThreadsOf(service.MasterProcess());

  const std::string ready_file = service.NewFile("ready");
  std::vector<std::string> command = {ProgramBesideThisOne("espalier-bench"), "watch-study", service.address(),
                                      std::to_string(study.value), ready_file};
  command.insert(command.end(), tokens.begin(), tokens.end());
  std::optional<std::string> read;
  std::jthread reading([&] { read = OutputOf(command); });
  const Seconds begun = MonotonicNow();
  while (!std::filesystem::exists(ready_file)) {
    if (MonotonicNow() - begun > Seconds{60}) GiveUp("not every watcher is told how far the study is");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  figures.Add("all_told_seconds", (MonotonicNow() - begun).count());
  others.Measure(figures, "watched", size.Of(1000, 5), "<= 20");
  figures.Add("bytes_a_watcher", static_cast<double>(service.MasterMemory() - memory) / static_cast<double>(watchers));
  figures.Add("threads_more", static_cast<double>(ThreadsOf(service.MasterProcess()) - threads));
  others.CancelStudy();
  reading.join();
  if (!read) GiveUp("a watcher was not told everything");
  std::istringstream counts(*read);
  std::int64_t ended = 0;
  std::int64_t events = 0;
  std::int64_t least = 0;
  while (counts >> events) least = ended++ == 0 ? events : std::min(least, events);
  if (ended != watchers) GiveUp("a watcher is missing");
  figures.Add("watchers", static_cast<double>(ended));
  figures.Add("events_of_each", static_cast<double>(least));
}

}  // namespace espalier::bench
