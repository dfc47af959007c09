#include "bench/stub_node.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "bench/lineages.h"
#include "bench/node_stream.h"
#include "proto/convert_node_protocol.h"

namespace espalier::bench {
namespace {

constexpr char kEvaluation[] = "stub-evaluation";
constexpr char kMetric[] = "accuracy";
constexpr char kDeviceKind[] = "none";
constexpr int kReportsAMessageMax = 1000;

// Reports are of a run that nobody ordered: metrics are taken by content.
constexpr RunKey kRun{LeadershipId{1}, RunId{1}};

}  // namespace

Registration StubRegistration(int slot_count, const std::string& server) {
  const auto declare = [](const char* name, const Value& value, bool initial = false) {
    return HyperParameter{name, TypeOf(value), value, initial};
  };
  return {
      .server = server,
      .incarnation = "stub-1",
      .devices =
          slot_count == 0 ? std::vector<Device>{} : std::vector<Device>{{.name = "cores-0", .slots = slot_count}},
      .offers = {{{.trainer = "stub",
                   .code_digest = "stub-code",
                   .data = {},
                   .data_digest = "stub-data",
                   .evaluation_digest = kEvaluation,
                   .schema = {.hyper_parameters = {declare("bs", std::int64_t{32}), declare("lr", 0.1),
                                                   declare("momentum", 0.9), declare("optimizer", std::string("sgd")),
                                                   declare("seed", std::int64_t{1}, true)}},
                   .metrics = {kMetric}},
                  kDeviceKind}}};
}

namespace {

void AddReport(const MetricReport& from, std::int64_t number, v1::SynchronizeRequest& request) {
  const MetricsMeasured measured{PlanId{1},   {from.node, from.step},     from.lineage,
                                 kEvaluation, {{kMetric, from.accuracy}}, Seconds(0)};
  *request.add_reports() = ToProto(espalier::Report{number, kRun, measured});
}

}  // namespace

MetricReport ReportOf(std::int64_t number, Step step, double accuracy) {
  static const Offer offer = StubRegistration(0, "").offers.front().offer;
  return {PlanNodeId{number + 2}, LineageOf(offer, kDeviceKind, Shape::kOneNode, number), step, accuracy};
}

struct StubNode::Stream {
  Stream(const Service& service, const Registration& registration) : call(service, registration) {}

  NodeStream call;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<MetricReport> waiting;
  std::vector<RunStatus> runs;  // as last ordered: they stand at the beginning of their paths
  std::int64_t reported = 0;
  std::int64_t sent = 0;
  std::int64_t stored = -1;  // reports up to this number; negative: nothing was answered yet
  bool ended = false;
  std::jthread reader;
  std::jthread writer;

  void Read() {
    v1::SynchronizeResponse response;
    while (call.Read(response)) {
      const std::lock_guard lock(mutex);
      stored = std::max(stored, response.acknowledged_report());
      TakeOrders(Need(FromProto(response)));
      changed.notify_all();
    }
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  }

  void TakeOrders(const ServerOrders& orders) {
    runs.clear();
    for (const Order& order : orders.orders) {
      const Step begun = order.path.empty() ? order.start->point.step : order.path.front().stage.from;
      runs.push_back({.run = order.run, .generation = order.terms.generation, .step = begun});
    }
  }

  // What waits, or nothing within a second: that tells the master that the stub lives, and where its runs stand.
  v1::SynchronizeRequest NextRequest(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, stop, std::chrono::seconds(1), [&] { return !waiting.empty() || ended; });
    v1::SynchronizeRequest request;
    for (const RunStatus& run : runs) *request.add_runs() = ToProto(run);
    while (!waiting.empty() && request.reports_size() < kReportsAMessageMax) {
      AddReport(waiting.front(), ++sent, request);
      waiting.pop_front();
    }
    return request;
  }

  void Write(const std::stop_token& stop) {
    while (!stop.stop_requested() && call.Write(NextRequest(stop))) continue;
  }

  void WaitFor(std::int64_t number) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stored >= number || ended; });
    if (stored < number) GiveUp("the master ended the stub's stream");
  }
};

StubNode::StubNode(const Service& service, int slot_count, const std::string& server)
    : stream_(std::make_unique<Stream>(service, StubRegistration(slot_count, server))) {
  stream_->reader = std::jthread([stream = stream_.get()] { stream->Read(); });
  stream_->WaitFor(0);
  stream_->writer = std::jthread([stream = stream_.get()](const std::stop_token& stop) { stream->Write(stop); });
}

StubNode::~StubNode() {
  stream_->writer.request_stop();
  stream_->writer.join();
  stream_->call.Cancel();
  stream_->reader.join();
}

void StubNode::Report(const std::vector<MetricReport>& reports) {
  const std::lock_guard lock(stream_->mutex);
  stream_->waiting.insert(stream_->waiting.end(), reports.begin(), reports.end());
  stream_->reported += static_cast<std::int64_t>(reports.size());
  stream_->changed.notify_all();
}

void StubNode::WaitUntilStored() { stream_->WaitFor(stream_->reported); }

StubCluster::StubCluster(const Service& service, std::int64_t servers) {
  constexpr int kSlotsAServer = 8;
  for (std::int64_t i = 0; i < servers; ++i) {
    nodes_.push_back(std::make_unique<StubNode>(service, kSlotsAServer, "stub-" + std::to_string(i)));
  }
}

void StubCluster::Report(const std::vector<MetricReport>& reports) {
  for (const MetricReport& report : reports) nodes_[next_++ % nodes_.size()]->Report({report});
}

void StubCluster::WaitUntilStored() {
  for (const auto& node : nodes_) node->WaitUntilStored();
}

StudySpecification StubStudy(const std::string& name) {
  return {.name = name, .trainer = "stub", .metric = kMetric, .definition = "{}"};
}

}  // namespace espalier::bench
