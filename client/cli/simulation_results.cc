#include "client/cli/simulation_results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <ostream>
#include <set>

#include "client/cli/output.h"
#include "client/cli/slots_svg.h"

namespace espalier {
namespace {

double MergeRateOf(std::int64_t claimed, std::int64_t unique) {
  return unique == 0 ? 0 : static_cast<double>(claimed) / static_cast<double>(unique);
}

std::string ScopeText(const std::optional<Scope>& scope) { return scope ? std::string(Name(*scope)) : "as written"; }

std::string SignedPercent(double percent) {
  char text[32];
  std::snprintf(text, sizeof(text), "%+.1f %%", percent);
  return text;
}

Json InJson(const master::StepCounts& steps) {
  return Json::Object({{"claimed", steps.claimed},
                       {"unique", steps.unique},
                       {"trained", steps.trained},
                       {"re_derived", steps.re_derived},
                       {"wasted", steps.wasted}});
}

Json BoundInJson(const SimulationResults& results, Seconds bound) {
  return results.HasBound() ? Json(bound.count()) : Json(nullptr);
}

Json CostInJson(const SimulationResults& results, double cost) {
  return results.HasPrices() ? Json(cost) : Json(nullptr);
}

// In the money of the servers' prices.
struct Cost {
  double rented = 0;             // all servers, from the first study's arrival until the last one is finished
  double used = 0;               // the device time alone, each slot at its part of its server's price
  std::vector<double> of_study;  // of that, what is charged to each
};

Cost CostOf(const SimulationResults& results, const sim::SimulatedStudies& simulated) {
  constexpr double kHour = 3600;
  Cost cost{.of_study = std::vector<double>(results.names.size())};
  std::map<std::string, double> of_slot;  // by server: a second of one
  for (const sim::SimulatedServer& server : results.servers) {
    cost.rented += server.price * simulated.end_to_end.count() / kHour;
    of_slot[server.name] = server.price / SlotCountOf(server) / kHour;
  }
  for (const sim::SimulatedRun& run : simulated.runs) {
    for (const auto& [study, time] : run.charged) {
      const double charged = of_slot.at(run.slot.server) * time.count();
      cost.of_study[study] += charged;
      cost.used += charged;
    }
  }
  return cost;
}

// Steps that several studies asked for, or that runs trained for several, count for each of these.
Json StudiesInJson(const SimulationResults& results, const Simulated& simulated, const Cost& cost) {
  Json studies = Json::Array();
  for (std::size_t i = 0; i < results.names.size(); ++i) {
    const sim::SimulatedStudy& study = simulated.result.studies[i];
    std::int64_t trials = 0;
    for (const auto& [state, count] : study.summary.trials_by_state) trials += count;
    Json json = Json::Object({{"name", results.names[i]},
                              {"team", results.teams[i]},
                              {"trials", trials},
                              {"arrives_at_seconds", results.arrivals[i].count()},
                              {"end_to_end_seconds", study.end_to_end.count()},
                              {"bound_seconds", BoundInJson(results, study.summary.makespan_bound)},
                              {"device_hours", study.summary.use.device.count() / 3600},
                              {"cost_used", CostInJson(results, cost.of_study[i])},
                              {"steps", InJson(study.summary.steps)},
                              {"merge_rate", study.summary.merge_rate},
                              {"time_weighted_merge_rate", study.summary.time_weighted_merge_rate}});
    if (results.really) {
      const TracedStudy& really = results.really->studies[i];
      json.Add("really", Json::Object({{"end_to_end_seconds", (really.ended - really.arrived).count()},
                                       {"device_hours", really.device_time.count() / 3600},
                                       {"steps", Json::Object({{"claimed", really.claimed_steps},
                                                               {"unique", really.unique_steps},
                                                               {"trained", really.trained_steps}})}}));
      json.Add("percent_more", PercentMore(study.end_to_end, really.ended - really.arrived));
    }
    studies.Append(std::move(json));
  }
  return studies;
}

// The steps and the device time of all studies; what several asked for counts for each.
struct Reality {
  Seconds device_time{0};
  std::int64_t claimed = 0;
  std::int64_t trained = 0;
  std::int64_t unique = 0;
};

Reality RealityOf(const Trace& trace) {
  Reality all;
  for (const TracedStudy& study : trace.studies) {
    all.device_time += study.device_time;
    all.claimed += study.claimed_steps;
    all.trained += study.trained_steps;
    all.unique += study.unique_steps;
  }
  return all;
}

// A run's shares in a picture: of its device time, by study.
std::map<std::size_t, double> SharesOf(const std::map<std::size_t, Seconds>& charged) {
  Seconds total{0};
  for (const auto& [study, time] : charged) total += time;
  std::map<std::size_t, double> shares;
  for (const auto& [study, time] : charged) {
    shares[study] = total > Seconds{0} ? time / total : 1.0 / static_cast<double>(charged.size());
  }
  return shares;
}

std::string LabelOf(const SimulationResults& results, const HeldSlots& held) {
  std::string label;
  for (const auto& [study, share] : held.shares) label += (label.empty() ? "" : ", ") + results.names[study];
  return label + ": " + FormatDuration((held.until - held.from).count()) + ", from " +
         FormatDuration(held.from.count());
}

std::string TitleOf(const SlotSchedule& schedule, const std::string& what) {
  char share[32];
  std::snprintf(share, sizeof(share), "%.0f %%", 100 * UtilizationOf(schedule));
  return what + ": " + FormatDuration(schedule.end.count()) + "; slots were held " + share + " of the time";
}

SlotSchedule ScheduleOf(const SimulationResults& results, const Simulated& simulated) {
  const Seconds begin = *std::ranges::min_element(results.arrivals) + results.lead;
  SlotSchedule schedule{.end = simulated.result.end_to_end};
  for (const sim::SimulatedServer& server : results.servers) {
    for (int slot = 0; slot < SlotCountOf(server); ++slot) schedule.slots.push_back({server.name, slot});
  }
  for (const sim::SimulatedRun& run : simulated.result.runs) {
    HeldSlots held{.slot = {run.slot.server, run.slot.index},
                   .count = run.slots,
                   .from = run.held_from - begin,
                   .until = std::min(run.held_until - begin, schedule.end),
                   .shares = SharesOf(run.charged)};
    held.label = LabelOf(results, held);
    schedule.held.push_back(std::move(held));
  }
  schedule.title = TitleOf(schedule, simulated.policy + ", shared " + ScopeText(simulated.scope));
  return schedule;
}

SlotSchedule RealSchedule(const SimulationResults& results, const Trace& trace) {
  SlotSchedule schedule{.end = EndToEnd(trace)};
  for (const TracedServer& server : trace.servers) {
    for (int slot = 0; slot < server.slots; ++slot) schedule.slots.push_back({server.name, slot});
  }
  struct Charged {
    const TracedRun* run = nullptr;
    std::map<std::size_t, Seconds> by_study;
  };
  std::map<std::int64_t, Charged> runs;
  for (std::size_t i = 0; i < trace.studies.size(); ++i) {
    for (const TracedRun& run : trace.studies[i].runs) {
      Charged& charged = runs[run.id];
      charged.run = &run;
      charged.by_study[i] = run.charged;
    }
  }
  for (const auto& [id, charged] : runs) {
    HeldSlots held{.slot = {charged.run->server, charged.run->slot},
                   .count = charged.run->slots,
                   .from = charged.run->held_from,
                   .until = std::min(charged.run->held_until, schedule.end),
                   .shares = SharesOf(charged.by_study)};
    held.label = LabelOf(results, held);
    schedule.held.push_back(std::move(held));
  }
  schedule.title = TitleOf(schedule, "what really happened");
  return schedule;
}

}  // namespace

std::int64_t SimulationResults::SlotCount() const {
  std::int64_t slots = 0;
  for (const sim::SimulatedServer& server : servers) slots += SlotCountOf(server);
  return slots;
}

bool SimulationResults::HasBound() const {
  return std::ranges::none_of(servers, [](const auto& server) { return server.gpus > 0 && server.slots > 1; });
}

bool SimulationResults::HasPrices() const {
  return std::ranges::any_of(servers, [](const auto& server) { return server.price > 0; });
}

Seconds EndToEnd(const Trace& trace) {
  const auto first = std::ranges::min_element(trace.studies, {}, &TracedStudy::arrived);
  const auto last = std::ranges::max_element(trace.studies, {}, &TracedStudy::ended);
  return last->ended - first->arrived;
}

double PercentMore(Seconds simulated, Seconds really) { return 100 * (simulated / really - 1); }

void PrintTable(std::ostream& out, const SimulationResults& results) {
  std::vector<std::string> head = {"policy",      "share",           "end to end", "at least",
                                   "device time", "steps asked for", "trained",    "merge rate"};
  if (results.HasPrices()) head.insert(head.end(), {"cost rented", "cost used"});
  if (results.really) head.emplace_back("than it was");
  Table table(head);
  if (results.really) {
    const Reality all = RealityOf(*results.really);
    std::vector<std::string> row = {"what really happened",
                                    "as written",
                                    FormatDuration(EndToEnd(*results.really).count()),
                                    "",
                                    FormatDuration(all.device_time.count()),
                                    FormatCount(all.claimed),
                                    FormatCount(all.trained),
                                    FormatNumber(MergeRateOf(all.claimed, all.unique))};
    row.resize(head.size());
    table.AddRow(std::move(row));
  }
  for (const Simulated& each : results.all) {
    const sim::SimulatedStudies& result = each.result;
    std::vector<std::string> row = {each.policy,
                                    ScopeText(each.scope),
                                    FormatDuration(result.end_to_end.count()),
                                    results.HasBound() ? FormatDuration(result.bound.count()) : "",
                                    FormatDuration(result.slot_time.count()),
                                    FormatCount(result.steps.claimed),
                                    FormatCount(result.steps.trained),
                                    FormatNumber(MergeRateOf(result.steps.claimed, result.steps.unique))};
    if (results.HasPrices()) {
      const Cost cost = CostOf(results, result);
      row.insert(row.end(), {FormatNumber(cost.rented), FormatNumber(cost.used)});
    }
    if (results.really) row.push_back(SignedPercent(PercentMore(result.end_to_end, EndToEnd(*results.really))));
    table.AddRow(std::move(row));
  }
  table.Print(out);
}

Json InJson(const SimulationResults& results) {
  Json array = Json::Array();
  for (const Simulated& each : results.all) {
    const sim::SimulatedStudies& result = each.result;
    const Cost cost = CostOf(results, result);
    Json object = Json::Object({{"policy", each.policy},
                                {"slots", results.SlotCount()},
                                {"device_hours", result.slot_time.count() / 3600},
                                {"end_to_end_seconds", result.end_to_end.count()},
                                {"bound_seconds", BoundInJson(results, result.bound)},
                                {"steps", Json::Object({{"claimed", result.steps.claimed},
                                                        {"unique", result.steps.unique},
                                                        {"trained", result.steps.trained}})},
                                {"states_saved", result.steps.saved},
                                {"merge_rate", MergeRateOf(result.steps.claimed, result.steps.unique)},
                                {"cost_rented", CostInJson(results, cost.rented)},
                                {"cost_used", CostInJson(results, cost.used)},
                                {"studies", StudiesInJson(results, each, cost)}});
    object.Add("share", each.scope ? Json(Name(*each.scope)) : Json(nullptr));
    if (results.really) {
      const Reality all = RealityOf(*results.really);
      object.Add("really", Json::Object({{"policy", results.really->head.policy},
                                         {"end_to_end_seconds", EndToEnd(*results.really).count()},
                                         {"device_hours", all.device_time.count() / 3600}}));
      object.Add("percent_more", PercentMore(result.end_to_end, EndToEnd(*results.really)));
      object.Add("estimated",
                 Json::Object({{"steps", result.estimated.steps}, {"evaluations", result.estimated.evaluations}}));
    }
    array.Append(std::move(object));
  }
  return array;
}

std::string PictureOf(const SimulationResults& results) {
  std::vector<SlotSchedule> schedules;
  if (results.really) schedules.push_back(RealSchedule(results, *results.really));
  for (const Simulated& each : results.all) schedules.push_back(ScheduleOf(results, each));
  const auto count = static_cast<std::int64_t>(results.names.size());
  const std::int64_t slots = results.SlotCount();
  return SlotsSvg(FormatCount(count) + (count == 1 ? " study on " : " studies on ") + FormatCount(slots) +
                      (slots == 1 ? " slot" : " slots"),
                  results.names, schedules);
}

}  // namespace espalier
