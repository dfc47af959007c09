// How soon a slot whose run has ended trains again: as a node manager sees it, and over a whole study of many short
// trials with real workers, while somebody looks on.
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "base/clock.h"
#include "bench/benches.h"
#include "bench/finished_run.h"
#include "bench/node_stream.h"
#include "bench/output_of.h"
#include "bench/service.h"
#include "bench/stub_node.h"
#include "bench/trials.h"
#include "client/client.h"
#include "client/connection.h"
#include "proto/convert_node_protocol.h"

namespace espalier::bench {
namespace {

constexpr int kTurnaroundSlots = 2;

// A node manager whose workers take no time: says at once of each order that all is done.
class InstantNode {
 public:
  explicit InstantNode(const Service& service) : call_(service, StubRegistration("stub", kTurnaroundSlots)) {
    v1::SynchronizeResponse response;
    if (!call_.Read(response)) GiveUp("the registration was refused");
  }
  ~InstantNode() { call_.Cancel(); }

  // Runs so many orders; the milliseconds from each run's end to the next order of its slot.
  std::vector<double> Run(std::int64_t count) {
    std::vector<double> milliseconds;
    while (static_cast<std::int64_t>(milliseconds.size()) < count) {
      v1::SynchronizeResponse response;
      if (!call_.Read(response)) GiveUp("the master ended the stream");
      const Seconds now = MonotonicNow();
      v1::SynchronizeRequest request;
      const ServerOrders orders = Need(FromProto(response));
      for (const Order& order : orders.orders) {
        if (!begun_.insert(order.run).second) continue;
        if (const auto end = ended_.find(order.slot); end != ended_.end()) {
          milliseconds.push_back((now - end->second).count() * 1000);
        }
        for (ReportKind& kind : Joined(Finish(order, 0.5))) {
          *request.add_reports() = ToProto(Report{++report_, order.run, std::move(kind)});
        }
        ended_[order.slot] = MonotonicNow();
      }
      if (request.reports_size() > 0 && !call_.Write(request)) GiveUp("the master ended the stream");
    }
    return milliseconds;
  }

 private:
  NodeStream call_;
  std::set<RunKey> begun_;
  std::map<int, Seconds> ended_;  // by slot
  std::int64_t report_ = 0;
};

void MeasureOrders(Figures& figures, Size size) {
  const Service service;
  InstantNode node(service);
  Client client = Need(Client::Connect(service.address()));
  const StudyId study = Need(client.CreateStudy(StubStudy("orders"))).id();
  const std::int64_t trials = size.Of(10'000, 100);
  Submit(client, study, Shape::kFourNodes, 0, trials, 1);
  const std::vector<double> milliseconds = node.Run(size.Of(3000, 50));
  figures.Add("end_to_next_order_ms_p50", Median(milliseconds), "<= 5");
  figures.Add("end_to_next_order_ms_p99", Percentile99(milliseconds));
}

// MultiStep x Piecewise with four first values, `count` x `count` trials of 50 steps that take no time, scope study.
void WriteStudy(const std::string& path, std::int64_t count) {
  std::mt19937_64 random(1);
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  std::set<std::string> rates;
  const char* first[] = {"0.1", "0.05", "0.02", "0.01"};
  while (static_cast<std::int64_t>(rates.size()) < count) {
    const std::int64_t mark = draw(5, 48);
    rates.insert("\"MultiStep(" + std::string(first[draw(0, 3)]) + ", [" + std::to_string(mark) + ", " +
                 std::to_string(draw(mark + 1, 49)) + "], gamma=0.1)\"");
  }
  std::set<std::string> momenta;
  while (static_cast<std::int64_t>(momenta.size()) < count) {
    momenta.insert("\"Piecewise([0.9, 0." + std::to_string(draw(500, 899)) + "], [" + std::to_string(draw(5, 49)) +
                   "])\"");
  }
  const auto list = [](const std::set<std::string>& texts) {
    std::string joined;
    for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
    return joined;
  };
  std::ofstream(path) << "study: turnaround\ntrainer: synthetic\nhyper_parameters:\n  lr: [" << list(rates)
                      << "]\n  momentum: [" << list(momenta)
                      << "]\nmetric: {name: test_acc, goal: max}\ntuner: {grid: {steps: 50}}\nshare: study\n";
}

// Looks at the study as `study show` and `trial list` do, until told to stop.
struct Looks {
  std::vector<double> show_ms;
  std::vector<double> list_ms;
};
Looks LookOn(Client& client, const std::atomic<bool>& stop) {
  Looks looks;
  v1::GetStudyRequest show;
  show.set_name("turnaround");
  v1::ListTrialsRequest list;
  list.set_study_name("turnaround");
  list.set_order(v1::TRIAL_ORDER_METRIC);
  list.set_page_size(100);
  while (!stop) {
    const Seconds begun = MonotonicNow();
    const bool is_there = client.connection().GetStudy(show).has_value();
    const Seconds shown = MonotonicNow();
    if (is_there) {
      Need(client.connection().ListTrials(list));
      looks.show_ms.push_back((shown - begun).count() * 1000);
      looks.list_ms.push_back((MonotonicNow() - shown).count() * 1000);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return looks;
}

void MeasureStudy(Figures& figures, Size size) {
  Service service;
  service.StartNodeManager(kTurnaroundSlots);
  const std::string file = service.NewFile("study.yaml");
  WriteStudy(file, size.Of(100, 5));
  std::atomic<bool> over = false;
  const Seconds begun = MonotonicNow();
  Seconds took{0};
  bool ran = false;
  std::jthread run([&] {
    ran = OutputOf({ProgramBesideThisOne("espalier"), "study", "run", file, "--server", service.address()}).has_value();
    took = MonotonicNow() - begun;
    over = true;
  });
  Client client = Need(Client::Connect(service.address()));
  const Looks looks = LookOn(client, over);
  run.join();
  if (!ran) GiveUp("the study did not end well");
  v1::GetStudyRequest show;
  show.set_name("turnaround");
  const v1::StudySummary study = Need(client.connection().GetStudy(show)).study();
  std::int64_t trials = 0;
  for (const auto& [state, count] : study.trials_by_state()) trials += count;
  figures.Add("trials", static_cast<double>(trials));
  figures.Add("trials_per_second", static_cast<double>(trials) / took.count(), ">= 150");
  figures.Add("merge_rate", study.merge_rate());
  figures.Add("wasted_steps", static_cast<double>(study.steps().wasted()), "0");
  const double idle = kTurnaroundSlots * took.count() - study.slot_seconds();
  figures.Add("slot_busy_ms_a_trial", study.slot_seconds() / static_cast<double>(trials) * 1000);
  figures.Add("slot_idle_ms_a_trial", idle / static_cast<double>(trials) * 1000);
  figures.Add("study_show_ms_p50", Median(looks.show_ms));
  figures.Add("study_show_ms_p99", Percentile99(looks.show_ms), "<= 20");
  figures.Add("list_of_100_ms_p50", Median(looks.list_ms));
  figures.Add("list_of_100_ms_p99", Percentile99(looks.list_ms), "<= 20");
}

}  // namespace

void RunTurnaround(Figures& figures, Size size) {
  MeasureOrders(figures, size);
  MeasureStudy(figures, size);
}

}  // namespace espalier::bench
