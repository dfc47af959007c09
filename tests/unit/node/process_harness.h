// A node manager as a process of its own, and a master inside the test that it talks to: says what it is told to say,
// keeps all that it hears, and acknowledges reports unless told not to.
#pragma once

#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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
#include "searchplan/sequence/configuration.h"

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

  void Want(std::vector<v1::DesiredRun> runs) {
    const std::lock_guard lock(mutex_);
    desired_ = std::move(runs);
    if (stream_ != nullptr) Answer();
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

  // Waits until a report, old or new, fulfils the condition; returns it.
  v1::Report Await(const std::function<bool(const v1::Report&)>& condition) {
    std::unique_lock lock(mutex_);
    const v1::Report* found = nullptr;
    REQUIRE(changed_.wait_for(lock, kPatience, [&] {
      for (const v1::Report& report : reports_) {
        if (condition(report)) found = &report;
      }
      return found != nullptr;
    }));
    return *found;
  }
  v1::PointReached AwaitCheckpoint(std::int64_t run, std::int64_t step) {
    return Await([=](const v1::Report& report) {
             return report.run_id() == run && report.point_reached().has_checkpoint() &&
                    report.point_reached().step() == step;
           })
        .point_reached();
  }
  v1::RunEnded AwaitEnd(std::int64_t run) {
    return Await([=](const v1::Report& report) { return report.run_id() == run && report.has_run_ended(); })
        .run_ended();
  }
  // Waits until the node manager says so of the run.
  void AwaitStatus(std::int64_t run, const std::function<bool(const v1::RunStatus&)>& condition) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, kPatience, [&] {
      for (const v1::RunStatus& status : statuses_) {
        if (status.run_id() == run && condition(status)) return true;
      }
      return false;
    }));
  }
  void AwaitRegistrations(std::size_t count) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, kPatience, [&] { return registrations_.size() >= count; }));
  }
  std::vector<v1::Registration> Registrations() {
    const std::lock_guard lock(mutex_);
    return registrations_;
  }
  // Forgets what was reported so far, so that only what comes anew counts.
  void ForgetReports() {
    const std::lock_guard lock(mutex_);
    reports_.clear();
  }
  // The union of the ranges that were reported as trained.
  std::int64_t StepsTrained(std::int64_t run) {
    const std::lock_guard lock(mutex_);
    std::set<std::int64_t> steps;
    for (const v1::Report& report : reports_) {
      if (report.run_id() != run || !report.has_steps_trained()) continue;
      for (std::int64_t i = report.steps_trained().from_step(); i < report.steps_trained().to_step(); ++i)
        steps.insert(i);
    }
    return static_cast<std::int64_t>(steps.size());
  }

 private:
  void Take(const v1::SynchronizeRequest& request) {
    if (request.has_registration()) {
      if (registrations_.empty() || registrations_.back().incarnation() != request.registration().incarnation()) {
        last_number_ = 0;
      }
      registrations_.push_back(request.registration());
    }
    statuses_.assign(request.runs().begin(), request.runs().end());
    for (const v1::Report& report : request.reports()) {
      last_number_ = std::max(last_number_, report.number());
      reports_.push_back(report);
    }
  }
  void Answer() {
    v1::SynchronizeResponse response;
    for (const v1::DesiredRun& run : desired_) *response.add_runs() = run;
    response.set_acknowledged_report(acknowledges_ ? last_number_ : 0);
    stream_->Write(response);
  }

  const std::string address_;
  std::unique_ptr<grpc::Server> server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Stream* stream_ = nullptr;
  std::vector<v1::DesiredRun> desired_;
  bool acknowledges_ = true;
  std::int64_t last_number_ = 0;
  std::vector<v1::Registration> registrations_;
  std::vector<v1::RunStatus> statuses_;
  std::vector<v1::Report> reports_;
};

class NodeProcess {
 public:
  explicit NodeProcess(const fs::path& folder, const std::string& failpoints = "") : folder_(folder) {
    const fs::path config = folder / "node.textproto";
    std::ofstream(config) << "master_address: 'unix:" << (folder / "master").string() << "'\nserver: 'test'\n"
                          << "slot_count: 1\ncheckpoint_directory: '" << (folder / "store").string() << "'\n"
                          << "work_directory: '" << work().string() << "'\n"
                          << "worker_command: '" << ESPALIER_FAKE_WORKER_PROGRAM << "'\nstop_seconds: 20\n";
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
  }

  fs::path work() const { return folder_ / "work"; }
  void Signal(int number) { kill(pid_, number); }
  // As waitpid gives it.
  int Wait() {
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }
  std::vector<pid_t> Workers() const {
    std::vector<pid_t> pids;
    for (const auto& entry : fs::directory_iterator(work() / "workers"))
      pids.push_back(std::stoi(entry.path().filename()));
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
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

// Runs of the toy trainer over lr; the other hyper-parameters are at rest.
class ToyRun {
 public:
  explicit ToyRun(std::int64_t id, std::int64_t step_milliseconds = 5, std::int64_t crash_at_step = 0)
      : step_milliseconds_(step_milliseconds), crash_at_step_(crash_at_step) {
    run_.set_run_id(id);
    run_.set_generation(1);
    run_.set_trainer("toy");
    run_.mutable_step()->set_updates(1);
    run_.set_plan_id(1);
    run_.set_evaluation_digest("toy-evaluation-1");
    for (const char* name : {"crash_at_step", "lr", "seed", "step_milliseconds"}) {
      run_.add_hyper_parameter_names(name);
      run_.add_initial(std::string_view(name) != "lr");
    }
  }
  ToyRun& From(const v1::PointReached& point, double lr) {
    run_.mutable_start()->set_plan_node_id(point.plan_node_id());
    run_.mutable_start()->set_step(point.step());
    run_.mutable_start()->set_file(point.checkpoint().file());
    run_.mutable_start()->set_state_sha256(point.checkpoint().state_sha256());
    run_.mutable_start()->set_configuration(Configured(lr));
    end_ = point.step();
    return *this;
  }
  ToyRun& Stage(std::int64_t node, std::int64_t to, double lr) {
    v1::PathStage& stage = *run_.add_path();
    stage.set_plan_node_id(node);
    stage.set_from_step(end_);
    stage.set_to_step(to);
    stage.set_configuration(Configured(lr));
    stage.set_lineage_digest(std::string(32, 'a'));
    end_ = to;
    return *this;
  }
  ToyRun& Both(std::int64_t step) {
    v1::Target& target = *run_.add_targets();
    target.set_step(step);
    target.set_evaluate(true);
    target.set_save(true);
    return *this;
  }
  ToyRun& Generation(std::int64_t generation) {
    run_.set_generation(generation);
    run_.clear_targets();
    return *this;
  }
  operator v1::DesiredRun() const { return run_; }

 private:
  std::string Configured(double lr) const {
    const auto constant = [](Value value) { return Function{Constant{std::move(value)}, Step{0}}; };
    return CanonicalBytes(Configuration{{constant(Value{crash_at_step_}), constant(Value{lr}),
                                         constant(Value{std::int64_t{7}}), constant(Value{step_milliseconds_})}});
  }

  v1::DesiredRun run_;
  std::int64_t step_milliseconds_;
  std::int64_t crash_at_step_;
  std::int64_t end_ = 0;
};

}  // namespace espalier::node
