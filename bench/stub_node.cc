#include "bench/stub_node.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "bench/finished_run.h"
#include "bench/node_stream.h"
#include "proto/convert_node_protocol.h"

namespace espalier::bench {
namespace {

constexpr char kMetric[] = "accuracy";
constexpr int kReportsAMessageMax = 1000;

}  // namespace

Registration StubRegistration(const std::string& server, int slots) {
  const auto declare = [](const char* name, const Value& value, bool initial = false) {
    return HyperParameter{name, TypeOf(value), value, initial};
  };
  return {
      .server = server,
      .incarnation = "stub-1",
      .devices = slots == 0 ? std::vector<Device>{} : std::vector<Device>{{.name = "cores-0", .slots = slots}},
      .offers = {{{.trainer = "stub",
                   .code_digest = "stub-code",
                   .data = {},
                   .data_digest = "stub-data",
                   .evaluation_digest = "stub-evaluation",
                   .schema = {.hyper_parameters = {declare("bs", std::int64_t{32}), declare("lr", 0.1),
                                                   declare("momentum", 0.9), declare("optimizer", std::string("sgd")),
                                                   declare("seed", std::int64_t{1}, true)}},
                   .metrics = {kMetric}},
                  "none"}}};
}

// Of all servers, those that nobody has taken yet.
struct StubNodes::Orders {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Order> waiting;
  std::map<RunKey, Stream*> server_of;  // of all that ever came
  bool ended = false;                   // some stream has

  void Add(const std::vector<Order>& orders, Stream* server) {
    const std::lock_guard lock(mutex);
    for (const Order& order : orders) {
      if (server_of.emplace(order.run, server).second) waiting.push_back(order);
    }
    changed.notify_all();
  }
  void End() {
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  }
  Order Take() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !waiting.empty() || ended; });
    if (waiting.empty()) GiveUp("the master ended the stub's stream");
    Order order = std::move(waiting.front());
    waiting.pop_front();
    return order;
  }
};

struct StubNodes::Stream {
  Stream(const Service& service, const Registration& registration, Orders& all)
      : call(service, registration), orders(all) {
    reader = std::jthread([this] { Read(); });
    WaitFor(0);
    writer = std::jthread([this](const std::stop_token& stop) { Write(stop); });
  }
  ~Stream() {
    if (writer.joinable()) {
      writer.request_stop();
      writer.join();
    }
    call.Cancel();
    reader.join();
  }

  NodeStream call;
  Orders& orders;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<espalier::Report> waiting;
  std::vector<RunStatus> runs;  // as last ordered: they stand at the beginning of their paths
  std::int64_t reported = 0;
  std::int64_t stored = -1;  // reports up to this number; negative: nothing was answered yet
  bool ended = false;
  std::jthread reader;
  std::jthread writer;

  void Read() {
    v1::SynchronizeResponse response;
    while (call.Read(response)) {
      const ServerOrders said = Need(FromProto(response));
      orders.Add(said.orders, this);
      const std::lock_guard lock(mutex);
      stored = std::max(stored, said.acknowledged_report);
      runs.clear();
      for (const Order& order : said.orders) {
        const Step begun = order.path.empty() ? order.start->point.step : order.path.front().stage.from;
        runs.push_back({.run = order.run, .generation = order.terms.generation, .step = begun});
      }
      changed.notify_all();
    }
    orders.End();
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  }

  // What waits, or nothing within a second: that tells the master that the stub lives, and where its runs stand.
  v1::SynchronizeRequest NextRequest(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, stop, std::chrono::seconds(1), [&] { return !waiting.empty() || ended; });
    v1::SynchronizeRequest request;
    for (const RunStatus& run : runs) *request.add_runs() = ToProto(run);
    while (!waiting.empty() && request.reports_size() < kReportsAMessageMax) {
      *request.add_reports() = ToProto(waiting.front());
      waiting.pop_front();
    }
    return request;
  }

  void Write(const std::stop_token& stop) {
    while (!stop.stop_requested() && call.Write(NextRequest(stop))) continue;
  }

  void Report(RunKey run, std::vector<ReportKind> kinds) {
    const std::lock_guard lock(mutex);
    for (ReportKind& kind : kinds) waiting.push_back({++reported, run, std::move(kind)});
    changed.notify_all();
  }

  void WaitFor(std::int64_t number) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stored >= number || ended; });
    if (stored < number) GiveUp("the master ended the stub's stream");
  }
};

StubNodes::StubNodes(const Service& service, int servers, int slots) : orders_(std::make_unique<Orders>()) {
  for (int i = 0; i < servers; ++i) {
    const Registration registration = StubRegistration("stub-" + std::to_string(i), slots);
    streams_.push_back(std::make_unique<Stream>(service, registration, *orders_));
  }
}

StubNodes::~StubNodes() = default;

Order StubNodes::AwaitOrder() { return orders_->Take(); }

void StubNodes::Report(const Order& order, std::vector<ReportKind> kinds) {
  Stream* server = nullptr;
  {
    const std::lock_guard lock(orders_->mutex);
    server = orders_->server_of.at(order.run);
  }
  server->Report(order.run, std::move(kinds));
}

void StubNodes::ReportFinished(const Order& order, double value) { Report(order, Joined(Finish(order, value))); }

void StubNodes::WaitUntilStored() {
  for (const auto& stream : streams_) stream->WaitFor(stream->reported);
}

StudySpecification StubStudy(const std::string& name) {
  return {.name = name, .trainer = "stub", .metric = kMetric, .definition = "{}"};
}

}  // namespace espalier::bench
