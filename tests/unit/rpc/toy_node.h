// A node manager in a thread: offers the trainer "toy" and trains at once whatever it is told to, but for runs of more
// than 100 steps, which it never ends. Metrics are as its maker says.
#pragma once

#include <set>
#include <thread>

#include "espalier/v1/node_manager.pb.h"
#include "tests/unit/rpc/service.h"

namespace espalier::master::testing {

class ToyNode {
 public:
  // Returns once the master has taken the registration.
  ToyNode(Service& service, const std::string& token, double score)
      : score_(score),
        call_(service.channel, "/espalier.v1.NodeManagerService/Synchronize", FirstRequest(), "Bearer " + token) {
    REQUIRE(call_.Read().has_value());
    thread_ = std::thread([this] { Train(); });
  }
  ~ToyNode() {
    call_.Cancel();
    thread_.join();
  }

  static v1::SynchronizeRequest FirstRequest() {
    v1::SynchronizeRequest request;
    v1::Registration& registration = *request.mutable_registration();
    registration.set_server("toy-server");
    registration.set_incarnation("1");
    registration.set_slot_count(2);
    registration.set_device_kind("toy");
    v1::TrainerDescription& trainer = *registration.add_trainers();
    trainer.set_name("toy");
    trainer.set_code_digest("toy-1");
    trainer.set_data_digest("none");
    trainer.set_evaluation_digest("toy-evaluation");
    trainer.add_metrics("score");
    v1::HyperParameter& lr = *trainer.add_hyper_parameters();
    lr.set_name("lr");
    lr.set_type(v1::VALUE_TYPE_FLOATING);
    lr.mutable_default_value()->set_floating(0.1);
    return request;
  }

 private:
  void Train() {
    while (const auto bytes = call_.Read()) {
      v1::SynchronizeResponse desired;
      if (!desired.ParseFromString(*bytes)) return;
      v1::SynchronizeRequest request;
      for (const v1::DesiredRun& run : desired.runs()) {
        const bool is_short = run.targets().rbegin()->step() <= 100;
        if (is_short && done_.insert(run.run_id()).second) Train(run, request);
      }
      if (request.reports_size() > 0) call_.Write(request);
    }
  }

  void Train(const v1::DesiredRun& run, v1::SynchronizeRequest& request) {
    for (const v1::PathStage& stage : run.path()) {
      v1::StepsTrained& trained = *NewReport(run, request).mutable_steps_trained();
      trained.set_plan_node_id(stage.plan_node_id());
      trained.set_from_step(stage.from_step());
      trained.set_to_step(stage.to_step());
      trained.set_seconds(static_cast<double>(stage.to_step() - stage.from_step()));
    }
    for (const v1::Target& target : run.targets()) {
      v1::PointReached& reached = *NewReport(run, request).mutable_point_reached();
      reached.set_plan_id(run.plan_id());
      for (const v1::PathStage& stage : run.path()) {
        if (target.step() > stage.from_step() && target.step() <= stage.to_step()) {
          reached.set_plan_node_id(stage.plan_node_id());
        }
      }
      reached.set_step(target.step());
      reached.set_evaluation_digest(run.evaluation_digest());
      (*reached.mutable_metrics())["score"] = score_;
      v1::StoredCheckpoint& checkpoint = *reached.mutable_checkpoint();
      checkpoint.set_file("file-of-run-" + std::to_string(run.run_id()));
      checkpoint.set_bytes(100);
      checkpoint.set_state_sha256("state-of-run-" + std::to_string(run.run_id()));
    }
    v1::RunEnded& ended = *NewReport(run, request).mutable_run_ended();
    ended.set_step(run.targets().rbegin()->step());
    ended.set_slot_seconds(1);
  }

  v1::Report& NewReport(const v1::DesiredRun& run, v1::SynchronizeRequest& request) {
    v1::Report& report = *request.add_reports();
    report.set_number(next_report_++);
    report.set_run_id(run.run_id());
    return report;
  }

  const double score_;
  RawCall call_;
  std::set<std::int64_t> done_;
  std::int64_t next_report_ = 1;
  std::thread thread_;
};

}  // namespace espalier::master::testing
