#include "worker/node/node_meter.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

namespace espalier::node {
namespace {

// Seconds.
const prometheus::Histogram::BucketBoundaries kTimes{1e-3, 1e-2, 1e-1, 1, 10, 60, 600, 3600};

prometheus::Gauge& GaugeOf(prometheus::Registry& registry, const std::string& name, const std::string& help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

prometheus::Histogram& TimesOf(prometheus::Registry& registry, const std::string& name, const std::string& help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, kTimes);
}

}  // namespace

struct NodeMeter::Families {
  explicit Families(prometheus::Registry& registry)
      : runs(GaugeOf(registry, "espalier_node_runs", "Runs that it was given and that have not ended")),
        runs_on_slots(GaugeOf(registry, "espalier_node_runs_on_slots", "Of those, that hold their slots")),
        workers(GaugeOf(registry, "espalier_node_workers", "Processes that train, warm ones too")),
        reports(GaugeOf(registry, "espalier_node_reports_waiting", "Reports that the master has not acknowledged")),
        reaches_master(GaugeOf(registry, "espalier_node_reaches_master", "1 if its stream to the master is open")),
        has_trouble(GaugeOf(registry, "espalier_node_has_trouble",
                            "1 if something keeps checkpoints from the store, or runs from going on: espalier server "
                            "list says what")),
        draining(GaugeOf(registry, "espalier_node_stopping", "1 if it is being stopped")),
        steps(TimesOf(registry, "espalier_node_step_seconds", "Steps that were trained, and how long they took")),
        saves(TimesOf(registry, "espalier_node_save_seconds", "States that were saved, and how long that took")),
        evaluations(TimesOf(registry, "espalier_node_evaluation_seconds", "Evaluations, and how long they took")),
        saved_bytes(prometheus::BuildCounter()
                        .Name("espalier_node_saved_bytes_total")
                        .Help("Of states that were saved")
                        .Register(registry)
                        .Add({})),
        deaths(prometheus::BuildCounter()
                   .Name("espalier_node_worker_deaths_total")
                   .Help("Workers that ended by themselves, or had to be killed")
                   .Register(registry)
                   .Add({})) {}

  prometheus::Gauge& runs;
  prometheus::Gauge& runs_on_slots;
  prometheus::Gauge& workers;
  prometheus::Gauge& reports;
  prometheus::Gauge& reaches_master;
  prometheus::Gauge& has_trouble;
  prometheus::Gauge& draining;
  prometheus::Histogram& steps;
  prometheus::Histogram& saves;
  prometheus::Histogram& evaluations;
  prometheus::Counter& saved_bytes;
  prometheus::Counter& deaths;
};

Result<std::unique_ptr<NodeMeter>> NodeMeter::Open(const std::string& address) {
  ESPALIER_ASSIGN(std::unique_ptr<MetricsPage> page, MetricsPage::Open(address));
  return std::unique_ptr<NodeMeter>(new NodeMeter(std::move(page)));
}

NodeMeter::NodeMeter(std::unique_ptr<MetricsPage> page)
    : page_(std::move(page)), families_(std::make_unique<Families>(page_->registry())) {}
NodeMeter::~NodeMeter() = default;

void NodeMeter::Look(const Core& core, std::size_t workers, bool reaches_master) {
  const std::vector<RunStatus> statuses = core.Statuses();
  const auto on_slots = std::ranges::count_if(statuses, [&](const RunStatus& run) { return core.IsOnSlot(run.run); });
  families_->runs.Set(static_cast<double>(statuses.size()));
  families_->runs_on_slots.Set(static_cast<double>(on_slots));
  families_->workers.Set(static_cast<double>(workers));
  families_->reports.Set(static_cast<double>(core.outbox().size()));
  families_->reaches_master.Set(reaches_master ? 1 : 0);
  families_->has_trouble.Set(core.Trouble().empty() ? 0 : 1);
  families_->draining.Set(core.stopping() ? 1 : 0);
}

void NodeMeter::Count(const WorkerReply& reply) {
  if (const auto* trained = std::get_if<Trained>(&reply.kind)) families_->steps.Observe(trained->time.count());
  if (const auto* evaluated = std::get_if<Evaluated>(&reply.kind)) {
    families_->evaluations.Observe(evaluated->time.count());
  }
  if (const auto* saved = std::get_if<Saved>(&reply.kind)) {
    families_->saves.Observe(saved->time.count());
    families_->saved_bytes.Increment(static_cast<double>(saved->bytes));
  }
}

void NodeMeter::CountDeath() { families_->deaths.Increment(); }

}  // namespace espalier::node
