#include "master/monitoring/state_gauges.h"

#include "monitoring/metrics_page.h"

namespace espalier::master {
namespace {

using prometheus::MetricFamily;

double Count(std::int64_t count) { return static_cast<double>(count); }
template <class Container>
double SizeOf(const Container& container) {
  return static_cast<double>(container.size());
}

std::vector<MetricFamily> OfServers(const MasterState& state) {
  std::int64_t connected = 0;
  std::int64_t draining = 0;
  std::int64_t away = 0;
  std::int64_t slots = 0;
  std::int64_t idle = 0;
  for (const auto& [name, server] : state.servers) {
    if (server.session) ++connected;
    if (IsDraining(state, server)) ++draining;
    if (!server.trouble.empty()) ++away;
    slots += server.slot_count();
    const ServerRoom& room = state.index.rooms.at(name);
    for (int device = 0; device < room.device_count(); ++device) idle += room.IdleSlotCount(device);
  }
  MetricFamily servers = GaugeFamily("espalier_servers", "Servers that train, by how they stand; one may be several");
  AddGauge(servers, Count(connected), {{"state", "connected"}});
  AddGauge(servers, SizeOf(state.servers) - Count(connected), {{"state", "disconnected"}});
  AddGauge(servers, Count(draining), {{"state", "draining"}});
  AddGauge(servers, Count(away), {{"state", "store_away"}});
  MetricFamily of_slots = GaugeFamily("espalier_slots", "Slots of the servers that are known now");
  AddGauge(of_slots, Count(slots - idle), {{"state", "busy"}});
  AddGauge(of_slots, Count(idle), {{"state", "idle"}});
  MetricFamily runs = GaugeFamily("espalier_runs_under_way", "Runs that train, evaluate or store");
  AddGauge(runs, SizeOf(state.active_runs));
  return {servers, of_slots, runs};
}

std::vector<MetricFamily> OfStudies(const MasterState& state) {
  MetricFamily studies = GaugeFamily("espalier_studies", "Studies, finished ones too");
  AddGauge(studies, SizeOf(state.running_studies), {{"state", "running"}});
  AddGauge(studies, SizeOf(state.studies) - SizeOf(state.running_studies), {{"state", "finished"}});
  std::int64_t open_count = 0;
  for (const auto& [plan, trials] : state.open_trials) open_count += static_cast<std::int64_t>(trials.size());
  MetricFamily trials = GaugeFamily("espalier_trials", "Trials, of finished studies too");
  AddGauge(trials, Count(open_count), {{"state", "open"}});
  AddGauge(trials, SizeOf(state.trials) - Count(open_count), {{"state", "closed"}});
  const StepTotals all = state.index.steps.OfAll(state);
  MetricFamily steps = GaugeFamily(
      "espalier_steps",
      "Steps of all studies' trials: unique ones that were asked for and are done, those trained for them, those of "
      "these trained again, those trained for nothing, and those of the unique ones that other studies had trained");
  AddGauge(steps, Count(all.unique), {{"kind", "unique"}});
  AddGauge(steps, Count(all.trained), {{"kind", "trained"}});
  AddGauge(steps, Count(all.re_derived), {{"kind", "re_derived"}});
  AddGauge(steps, Count(all.wasted), {{"kind", "wasted"}});
  AddGauge(steps, Count(all.reused), {{"kind", "reused"}});
  return {studies, trials, steps};
}

}  // namespace

std::vector<MetricFamily> StateGauges(const MasterState& state) {
  std::vector<MetricFamily> families = OfServers(state);
  for (MetricFamily& family : OfStudies(state)) families.push_back(std::move(family));
  MetricFamily bytes = GaugeFamily("espalier_checkpoint_bytes", "What checkpoints take in the store");
  AddGauge(bytes, Count(state.index.cache.bytes()));
  families.push_back(std::move(bytes));
  return families;
}

}  // namespace espalier::master
