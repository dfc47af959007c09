// A node manager in a thread: offers the trainer "toy" and trains at once whatever it is told to, but for runs of more
// than 100 steps, which it never ends. Metrics are as its maker says. What a master may expect of it, as of a real one:
// tests/conformance/node_manager.
#pragma once

#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "proto/convert_node_protocol.h"
#include "tests/support/raw_call.h"

namespace espalier::master::testing {

class ToyNode {
 public:
  // Returns once the master has taken the registration.
  ToyNode(const std::shared_ptr<grpc::Channel>& channel, const std::string& token, double score)
      : score_(score),
        call_(channel, "/espalier.v1.NodeManagerService/Synchronize", FirstRequest(), "Bearer " + token) {
    REQUIRE(call_.Read().has_value());
    thread_ = std::thread([this] { Train(); });
  }
  ~ToyNode() {
    call_.Cancel();
    thread_.join();
  }

  static v1::SynchronizeRequest FirstRequest() {
    v1::SynchronizeRequest request;
    *request.mutable_registration() = ToProto(
        Registration{.server = "toy-server",
                     .incarnation = "1",
                     .devices = {{.name = "cores-0", .slots = 2}},
                     .offers = {{{.trainer = "toy",
                                  .code_digest = "toy-1",
                                  .data_digest = "none",
                                  .evaluation_digest = "toy-evaluation",
                                  .schema = {.hyper_parameters = {{"lr", ValueType::kFloating, Value{0.1}, false}}},
                                  .metrics = {"score"}},
                                 "toy"}}});
    return request;
  }

 private:
  void Train() {
    while (const auto bytes = call_.Read()) {
      v1::SynchronizeResponse response;
      if (!response.ParseFromString(*bytes)) return;
      const Result<ServerOrders> orders = FromProto(response);
      if (!orders.has_value()) return;
      v1::SynchronizeRequest request;
      for (const Order& order : orders->orders) {
        const bool is_short = !order.terms.promises.empty() && order.terms.promises.back().step <= Step{100};
        if (is_short && done_.insert(order.run).second) Train(order, request);
      }
      if (request.reports_size() > 0) call_.Write(request);
    }
  }

  // 1 / step.
  static MetricSeries LossesOf(Step from, Step to) {
    MetricSeries series{.names = {"loss"}, .steps = {}, .values = {}};
    for (Step step = from + 1; step <= to; step = step + 1) {
      series.steps.push_back(step);
      series.values.push_back(1.0 / static_cast<double>(step.value));
    }
    return series;
  }

  void Train(const Order& order, v1::SynchronizeRequest& request) {
    const auto report = [&](ReportKind kind) {
      *request.add_reports() = ToProto(Report{next_report_++, order.run, std::move(kind)});
    };
    for (const OrderedStage& stage : order.path) {
      const auto [node, from, to] = stage.stage;
      report(TrainingMetrics{order.plan, node, stage.lineage, LossesOf(from, to)});
      report(StepsTrained{node, from, to, Seconds(static_cast<double>(to - from))});
    }
    for (const OrderedPromise& promise : order.terms.promises) {
      for (const OrderedStage& stage : order.path) {
        if (promise.step <= stage.stage.from || promise.step > stage.stage.to) continue;
        const Point point{stage.stage.node, promise.step};
        if (promise.owed == Owed::kMetrics) {
          report(MetricsMeasured{
              order.plan, point, stage.lineage, order.offer.evaluation_digest, {{"score", score_}}, {}});
        } else {
          const std::string name = std::to_string(order.run.run.value) + "-" + std::to_string(promise.step.value);
          report(StateStored{order.plan, point, stage.lineage, "file-of-" + name, 100, "state-of-" + name, {}});
        }
      }
    }
    report(RunEnded{.step = order.terms.promises.back().step, .slot_time = Seconds(1)});
  }

  const double score_;
  RawCall call_;
  std::set<RunKey> done_;
  std::int64_t next_report_ = 1;
  std::thread thread_;
};

}  // namespace espalier::master::testing
