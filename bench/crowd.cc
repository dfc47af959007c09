// A service as busy as a large one: 1,000 clients that are connected and watch 200 studies, of which some end and
// others begin all the time, and 100 submissions a second, trained by 64 servers. What calls take, and whether memory
// grows.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "bench/benches.h"
#include "bench/crowd_clients.h"
#include "bench/members.h"
#include "bench/service.h"
#include "bench/stub_node.h"
#include "bench/trials.h"
#include "client/client.h"
#include "client/connection.h"
#include "client/convert.h"

namespace espalier::bench {
namespace {

constexpr int kCrowdServers = 64;
constexpr int kSlotsACrowdServer = 8;
constexpr std::size_t kClientsAUser = 250;  // of the 256 streams that a user may have
constexpr std::int64_t kTrialsAStudy = 60;
// Trials differ from each other for so long; later ones ask for what others have asked for.
constexpr std::int64_t kDifferentTrials = 30'000;
constexpr Seconds kRetireAfter{30};

// What calls of each kind took, in milliseconds. Thread-safe.
class CallTimes {
 public:
  template <class Call>
  auto Of(const std::string& name, const Call& call) {
    const Seconds begun = MonotonicNow();
    auto answer = Need(call());
    const std::lock_guard lock(mutex_);
    milliseconds_[name].push_back((MonotonicNow() - begun).count() * 1000);
    return answer;
  }
  void AddTo(Figures& figures) {
    for (const auto& [name, milliseconds] : milliseconds_) {
      figures.Add(name + "_ms_p50", Median(milliseconds));
      figures.Add(name + "_ms_p99", Percentile99(milliseconds), "<= 50");
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<double>> milliseconds_;
};

// Studies that run side by side: each is given its trials one by one, ends, and is followed by another.
class CrowdStudies {
 public:
  CrowdStudies(const std::string& address, CrowdClients& crowd, std::size_t clients, CallTimes& times,
               std::size_t count)
      : client_(Need(espalier::Client::Connect(address))),
        crowd_(crowd),
        clients_(clients),
        times_(times),
        studies_(count) {}

  // The next study's next trial. One thread at a time.
  void Submit() {
    const std::size_t index = static_cast<std::size_t>(submitted_) % studies_.size();
    Running& study = studies_[index];
    if (study.trials == 0) Begin(index);
    v1::SubmitRequest request;
    request.set_study_id(study.id.value);
    request.set_request_id("trial-" + std::to_string(study.trials));
    *request.add_new_trials() = ToWire(TrialOf(Shape::kOneNode, submitted_++ % kDifferentTrials));
    if (++study.trials == kTrialsAStudy) {
      request.set_finish(true);
      study.trials = 0;
    }
    times_.Of("submit", [&] { return client_.connection().Submit(request); });
    last_study_ = study.id;
  }
  std::int64_t begun() const { return begun_; }
  StudyId last_study() const { return last_study_; }

 private:
  struct Running {
    StudyId id;
    std::int64_t trials = 0;  // 0: another is to begin
  };

  void Begin(std::size_t index) {
    const StudySpecification specification = StubStudy("crowd-" + std::to_string(begun_++));
    studies_[index].id = times_.Of("create_study", [&] { return client_.CreateStudy(specification); }).id();
    for (std::size_t client = index; client < clients_; client += studies_.size())
      crowd_.Watch(client, studies_[index].id);
  }

  espalier::Client client_;
  CrowdClients& crowd_;
  const std::size_t clients_;
  CallTimes& times_;
  std::vector<Running> studies_;
  std::int64_t submitted_ = 0;
  std::atomic<std::int64_t> begun_ = 0;
  std::atomic<StudyId> last_study_{};
};

// As often as that, at most; what is late is made up for.
template <class Call>
std::jthread Every(Seconds pause, const Call& call) {
  return std::jthread([pause, call](const std::stop_token& stop) {
    for (Seconds next = MonotonicNow(); !stop.stop_requested(); next += pause) {
      const Seconds left = next - MonotonicNow();
      if (left > Seconds{0}) std::this_thread::sleep_for(left);
      call();
    }
  });
}

}  // namespace

void RunCrowd(Figures& figures, Size size) {
  const auto clients = static_cast<std::size_t>(size.Of(1000, 20));
  const auto studies = static_cast<std::size_t>(size.Of(200, 4));
  const Seconds first(static_cast<double>(size.Of(600, 2)));
  const Seconds second(static_cast<double>(size.Of(600, 2)));
  const Service service(kRetireAfter);
  StubNodes cluster(service, kCrowdServers, kSlotsACrowdServer);
  Client client = Need(Client::Connect(service.address()));
  CrowdClients crowd(service.address(),
                     AddMembers(client, 1 + static_cast<std::int64_t>((clients - 1) / kClientsAUser)), clients);
  CallTimes times;
  CrowdStudies running(service.address(), crowd, clients, times, studies);
  Client other = Need(Client::Connect(service.address()));
  std::jthread training([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) cluster.ReportFinished(cluster.AwaitOrder(), 0.5);
  });
  std::int64_t memory = 0;
  {
    const auto submitting = Every(Seconds(0.01), [&] { running.Submit(); });
    const auto reading = Every(Seconds(0.1), [&] {
      const StudyId study = running.last_study();
      if (study == StudyId{}) return;
      v1::GetStudyRequest get;
      get.set_study_id(study.value);
      times.Of("get_study", [&] { return other.connection().GetStudy(get); });
      v1::ListTrialsRequest list;
      list.set_study_id(study.value);
      times.Of("list_trials", [&] { return other.connection().ListTrials(list); });
      v1::ListStudiesRequest page;
      page.set_page_size(100);
      times.Of("list_studies", [&] { return other.connection().ListStudies(page); });
    });
    std::this_thread::sleep_for(first);
    memory = service.MasterMemory();
    std::this_thread::sleep_for(second);
  }
  times.AddTo(figures);
  figures.Add("memory_at_10_minutes_megabytes", static_cast<double>(memory) / (1 << 20));
  figures.Add("memory_at_the_end_against_that",
              static_cast<double>(service.MasterMemory()) / static_cast<double>(memory), "<= 1.1");
  figures.Add("studies", static_cast<double>(running.begun()));
  figures.Add("events_sent", static_cast<double>(crowd.events()));
  training.request_stop();
  SubmitOne(other, Need(other.CreateStudy(StubStudy("last"))).id(), Shape::kFourNodes, 1);  // which is ordered
}

}  // namespace espalier::bench
