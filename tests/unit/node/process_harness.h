// A node manager as a process of its own, and a master inside the test that it talks to: says what it is told to say,
// keeps all that it hears, and acknowledges reports unless told not to.
#pragma once

#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "espalier/v1/node_manager.grpc.pb.h"
#include "proto/convert_node_protocol.h"
#include "worker/process/worker_groups.h"

namespace espalier::node {

namespace fs = std::filesystem;

// Only so that a broken test ends.
constexpr std::chrono::seconds kPatience{60};

// Checked again and again, for what no message tells of.
inline bool Eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/espalier node XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Makes the file's folders too.
inline void Write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}
inline std::string TextOf(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline RunKey Key(std::int64_t run) { return {LeadershipId{77}, RunId{run}}; }

class TestMaster : public v1::NodeManagerService::Service {
 public:
  using Stream = grpc::ServerReaderWriter<v1::SynchronizeResponse, v1::SynchronizeRequest>;

  explicit TestMaster(const fs::path& socket) : address_("unix:" + socket.string()) { Start(); }
  ~TestMaster() override { Stop(); }

  void Start() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    REQUIRE(server_ != nullptr);
  }
  void Stop() {
    if (!server_) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }

  grpc::Status Synchronize(grpc::ServerContext*, Stream* stream) override {
    v1::SynchronizeRequest request;
    {
      const std::lock_guard lock(mutex_);
      stream_ = stream;
    }
    while (stream->Read(&request)) {
      const std::lock_guard lock(mutex_);
      Take(request);
      if (stream_ == stream) Answer();
      changed_.notify_all();
    }
    const std::lock_guard lock(mutex_);
    if (stream_ == stream) stream_ = nullptr;
    return grpc::Status::OK;
  }

  // By whatever the node manager offers first.
  void Want(std::vector<Order> orders) {
    const std::lock_guard lock(mutex_);
    orders_ = std::move(orders);
    if (stream_ != nullptr) Answer();
  }
  // From now on orders have more in them than a node manager of this version knows, or no longer.
  void SpeakNewerVersion(bool newer) {
    const std::lock_guard lock(mutex_);
    speaks_newer_version_ = newer;
    if (stream_ != nullptr) Answer();
  }
  // From now on a node manager is told that, and gets no orders; empty: it is taken again.
  void RefuseBecause(const std::string& why) {
    const std::lock_guard lock(mutex_);
    refused_ = why;
    if (stream_ != nullptr) Answer();
  }
  // Waits until the node manager says of itself what fulfils the condition.
  void AwaitRegistration(const std::function<bool(const Registration&)>& condition) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, kPatience,
                              [&] { return !registrations_.empty() && condition(registrations_.back()); }));
  }
  void AcknowledgeNothing() {
    const std::lock_guard lock(mutex_);
    acknowledges_ = false;
  }
  void AcknowledgeAll() {
    const std::lock_guard lock(mutex_);
    acknowledges_ = true;
    if (stream_ != nullptr) Answer();
  }

  // Waits until a report of that kind about the run, old or new, fulfils the condition; returns it.
  template <class Kind>
  Kind Await(
      std::int64_t run, const std::function<bool(const Kind&)>& condition = [](const Kind&) { return true; }) {
    std::unique_lock lock(mutex_);
    const Kind* found = nullptr;
    REQUIRE(changed_.wait_for(lock, kPatience, [&] {
      for (const Report& report : reports_) {
        const auto* kind = std::get_if<Kind>(&report.kind);
        if (kind != nullptr && report.run == Key(run) && condition(*kind)) found = kind;
      }
      return found != nullptr;
    }));
    return *found;
  }
  StateStored AwaitState(std::int64_t run, std::int64_t step) {
    return Await<StateStored>(run, [=](const StateStored& stored) { return stored.point.step == Step{step}; });
  }
  MetricsMeasured AwaitMetrics(std::int64_t run, std::int64_t step) {
    return Await<MetricsMeasured>(run,
                                  [=](const MetricsMeasured& measured) { return measured.point.step == Step{step}; });
  }
  // Waits until the node manager has said so of the run, then or before.
  void AwaitStatus(std::int64_t run, RunStatus::State state) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, kPatience, [&] { return states_.contains({Key(run), state}); }));
  }
  void AwaitRegistrations(std::size_t count) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, kPatience, [&] { return registrations_.size() >= count; }));
  }
  std::vector<Registration> Registrations() {
    const std::lock_guard lock(mutex_);
    return registrations_;
  }
  // As they came.
  std::vector<Report> ReportsOf(std::int64_t run) {
    const std::lock_guard lock(mutex_);
    std::vector<Report> of_run;
    std::ranges::copy_if(reports_, std::back_inserter(of_run),
                         [&](const Report& each) { return each.run == Key(run); });
    return of_run;
  }
  void ForgetReports() {
    const std::lock_guard lock(mutex_);
    reports_.clear();
  }
  bool HasReportOf(std::int64_t run) {
    const std::lock_guard lock(mutex_);
    return std::any_of(reports_.begin(), reports_.end(), [&](const Report& report) { return report.run == Key(run); });
  }
  // The union of the ranges that were reported as trained.
  std::int64_t StepsTrainedBy(std::int64_t run) {
    const std::lock_guard lock(mutex_);
    std::set<std::int64_t> steps;
    for (const Report& report : reports_) {
      const auto* trained = std::get_if<StepsTrained>(&report.kind);
      if (trained == nullptr || report.run != Key(run)) continue;
      for (Step step = trained->from; step < trained->to; step = step + 1) steps.insert(step.value);
    }
    return static_cast<std::int64_t>(steps.size());
  }

 private:
  void Take(const v1::SynchronizeRequest& request) {
    if (request.has_registration()) {
      const Registration registration = FromProto(request.registration()).value();
      const bool is_new = registrations_.empty() || registrations_.back().incarnation != registration.incarnation;
      if (is_new) last_number_ = 0;
      registrations_.push_back(registration);
    }
    statuses_.clear();
    for (const v1::RunStatus& proto : request.runs()) {
      const RunStatus& status = statuses_.emplace_back(FromProto(proto).value());
      states_.emplace(status.run, status.state);
    }
    for (const v1::Report& report : request.reports()) {
      reports_.push_back(FromProto(report).value());
      last_number_ = std::max(last_number_, report.number());
    }
  }
  // By the newest request; a master orders it no more.
  bool HasEnded(RunKey run) const {
    return std::ranges::any_of(statuses_, [&](const RunStatus& status) {
      return status.run == run && status.state == RunStatus::State::kEnded;
    });
  }
  void Answer() {
    if (acknowledges_) std::erase_if(orders_, [&](const Order& order) { return HasEnded(order.run); });
    ServerOrders orders{
        .orders = orders_, .acknowledged_report = acknowledges_ ? last_number_ : 0, .refused = refused_};
    for (Order& order : orders.orders) {
      if (order.offer.trainer.empty()) order.offer = registrations_.back().offers.at(0).offer;
    }
    v1::SynchronizeResponse response = ToProto(orders);
    // Field 9999, a number.
    if (speaks_newer_version_) response.MergeFromString(std::string("\xf8\xf0\x04\x01", 4));
    stream_->Write(response);
  }

  const std::string address_;
  std::unique_ptr<grpc::Server> server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Stream* stream_ = nullptr;
  std::vector<Order> orders_;
  bool acknowledges_ = true;
  bool speaks_newer_version_ = false;
  std::string refused_;
  std::int64_t last_number_ = 0;
  std::vector<Registration> registrations_;
  std::vector<RunStatus> statuses_;                       // by the newest request
  std::set<std::pair<RunKey, RunStatus::State>> states_;  // ever said
  std::vector<Report> reports_;
};

class NodeProcess {
 public:
  explicit NodeProcess(const fs::path& folder, const std::string& failpoints = "") : folder_(folder) {
    const fs::path config = folder / "node.textproto";
    std::ofstream(config) << "master_address: 'unix:" << (folder / "master").string() << "'\nserver: 'test'\n"
                          << "slot_count: 1\ncheckpoint_directory: '" << (folder / "store").string() << "'\n"
                          << "work_directory: '" << work().string() << "'\n"
                          << "runtimes { name: 'toy' command: '" << ESPALIER_FAKE_WORKER_PROGRAM
                          << "' }\nstop_seconds: 20\n";
    pid_ = fork();
    if (pid_ == 0) {
      setenv("ESPALIER_FAILPOINTS", failpoints.c_str(), 1);
      execl(ESPALIER_NODE_PROGRAM, ESPALIER_NODE_PROGRAM, config.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    REQUIRE(pid_ > 0);
  }
  ~NodeProcess() {
    if (pid_ == 0) return;
    Signal(SIGKILL);
    Wait();
    worker::RemoveLeftGroups();
  }

  fs::path store() const { return folder_ / "store"; }
  fs::path work() const { return folder_ / "work"; }
  void Signal(int number) { kill(pid_, number); }
  // As waitpid gives it.
  int Wait() {
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }
  std::vector<pid_t> Workers() const {
    std::ifstream children("/proc/" + std::to_string(pid_) + "/task/" + std::to_string(pid_) + "/children");
    std::vector<pid_t> pids;
    for (pid_t pid = 0; children >> pid;) pids.push_back(pid);
    return pids;
  }

 private:
  const fs::path folder_;
  pid_t pid_ = 0;
};

inline bool IsGone(pid_t pid) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const std::size_t name_end = text.rfind(')');
  return name_end == std::string::npos || text.substr(name_end, 3) == ") Z";
}

inline std::vector<fs::path> FilesUnder(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().filename() != ".espalier-store") files.push_back(entry.path());
  }
  return files;
}

// Runs of the toy trainer over lr; the other hyper-parameters are at rest.
class ToyRun {
 public:
  explicit ToyRun(std::int64_t id, std::int64_t step_milliseconds = 5, std::int64_t crash_at_step = 0)
      : step_milliseconds_(step_milliseconds), crash_at_step_(crash_at_step) {
    order_.run = Key(id);
    order_.terms.generation = 1;
    order_.step = {.updates = 1};
    order_.plan = PlanId{1};
  }
  // Before any stage: what is saved at that step is garbage.
  ToyRun& LyingAt(std::int64_t step) { return lie_at_step_ = step, *this; }
  ToyRun& By(Offer offer) { return order_.offer = std::move(offer), *this; }
  ToyRun& From(const StateStored& stored, double lr) {
    order_.start =
        OrderedStart{stored.point, stored.file, stored.state_sha256, Configured(lr), stored.lineage, Configured(lr)};
    end_ = stored.point.step;
    return *this;
  }
  ToyRun& Stage(std::int64_t node, std::int64_t to, double lr) {
    order_.path.push_back({{PlanNodeId{node}, end_, Step{to}}, Configured(lr), DigestOf(std::to_string(node))});
    end_ = Step{to};
    return *this;
  }
  ToyRun& Both(std::int64_t step) {
    order_.terms.promises.push_back({PromiseId{2 * step}, Step{step}, Owed::kMetrics});
    order_.terms.promises.push_back({PromiseId{2 * step + 1}, Step{step}, Owed::kState});
    return *this;
  }
  ToyRun& Generation(std::int64_t generation) {
    order_.terms.generation = generation;
    order_.terms.promises.clear();
    return *this;
  }
  operator Order() const { return order_; }

 private:
  // In the order of the toy's schema.
  Configuration Configured(double lr) const {
    const auto constant = [](Value value) { return Function{Constant{std::move(value)}, Step{0}}; };
    const Value none{std::int64_t{0}};
    return {{constant(std::int64_t{32}), constant(crash_at_step_), constant(none), constant(none),
             constant(lie_at_step_), constant(lr), constant(none), constant(std::string("sgd")),
             constant(std::int64_t{7}), constant(step_milliseconds_)}};
  }

  Order order_;
  std::int64_t step_milliseconds_;
  std::int64_t crash_at_step_;
  std::int64_t lie_at_step_ = 0;
  Step end_;
};

}  // namespace espalier::node
