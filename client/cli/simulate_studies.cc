#include "client/cli/simulate_studies.h"

#include <algorithm>
#include <ostream>
#include <variant>

#include "base/text_file.h"
#include "client/json.h"
#include "client/simulation/simulation_files.h"
#include "client/simulation/study_to_simulate.h"
#include "client/study_file/study_file.h"
#include "client/study_file/study_values.h"
#include "scheduler/policy.h"
#include "sim/simulated_studies.h"

namespace espalier {
namespace {

constexpr const char* kFormula = "formula";

// What a mistake is of: a file, or an option of the command line.
using Mistake = std::variant<FileError, Error>;
template <class T>
using Checked = tl::expected<T, Mistake>;

tl::unexpected<Mistake> WrongOption(const std::string& option, const std::string& message) {
  return tl::unexpected<Mistake>(Error{ErrorCode::kInvalidArgument, message, option});
}

// The studies of the files, and one service; policies and scopes go over them.
struct Workload {
  std::vector<StudyFile> files;
  std::vector<sim::StudyToSimulate> studies;
  sim::ServiceToSimulate service;
  std::vector<std::string> policies;
  std::vector<std::optional<Scope>> scopes;  // none: as each file says
};

Checked<void> AddStudy(Workload& workload, const std::string& path) {
  tl::expected<StudyFile, FileError> file = ReadStudyFile(path);
  if (!file.has_value()) return tl::unexpected<Mistake>(file.error());
  Result<sim::StudyToSimulate> study = StudyToSimulateFrom(*file);
  if (!study.has_value()) return tl::unexpected<Mistake>(AtField(*file, study.error()));
  workload.studies.push_back(*std::move(study));
  workload.files.push_back(*std::move(file));
  return {};
}

// The same table for every study: each takes its own metric from it.
Checked<void> ReadTables(Workload& workload, const std::string& path) {
  if (path == kFormula) return {};
  const Result<std::string> text = ReadTextFile(path);
  if (!text.has_value()) return WrongOption("--metrics", path + ": " + text.error().message);
  ValueTypes types;
  for (const sim::StudyToSimulate& study : workload.studies) {
    for (const auto& [name, type] : study.specification.undeclared) {
      if (types.emplace(name, type).first->second == type) continue;
      return WrongOption("--metrics", "the studies have values of different types for '" + name + "'");
    }
  }
  for (const sim::StudyToSimulate& study : workload.studies) {
    const std::string& metric = study.specification.metric;
    if (workload.service.measures.tables.contains(metric)) continue;
    Result<sim::LearningCurves> curves = sim::LearningCurves::Parse(*text, metric, types);
    if (!curves.has_value()) return WrongOption("--metrics", path + ": " + curves.error().message);
    workload.service.measures.tables.emplace(metric, *std::move(curves));
  }
  return {};
}

Checked<void> ReadSchedule(Workload& workload, const StudiesToSimulate& wanted) {
  workload.service.servers = {{.slots = static_cast<int>(wanted.slots)}};
  if (!wanted.servers.empty()) {
    auto servers = ReadServers(wanted.servers);
    if (!servers.has_value()) return tl::unexpected<Mistake>(servers.error());
    workload.service.servers = *std::move(servers);
  }
  if (wanted.arrivals.empty()) return {};
  std::vector<std::string> names;
  for (const sim::StudyToSimulate& study : workload.studies) names.push_back(study.specification.name);
  const auto arrivals = ReadArrivals(wanted.arrivals, names);
  if (!arrivals.has_value()) return tl::unexpected<Mistake>(arrivals.error());
  for (sim::StudyToSimulate& study : workload.studies) {
    const auto arrival = arrivals->find(study.specification.name);
    if (arrival == arrivals->end()) continue;
    study.arrives_at = arrival->second.after;
    study.team = arrival->second.team.value_or(study.team);
  }
  return {};
}

Checked<void> ReadChoices(Workload& workload, const StudiesToSimulate& wanted) {
  workload.policies = ListOf(wanted.policies);
  for (const std::string& name : workload.policies) {
    const auto policy = MakePolicy(name);
    if (!policy.has_value()) return WrongOption("--policy", policy.error().message);
  }
  workload.scopes = {std::nullopt};
  if (wanted.shares.empty()) return {};
  workload.scopes.clear();
  for (const std::string& name : ListOf(wanted.shares)) {
    const Result<Scope> scope = ParseScope(name);
    if (!scope.has_value()) return WrongOption("--share", scope.error().message);
    workload.scopes.emplace_back(*scope);
  }
  return {};
}

Checked<Workload> ReadWorkload(const StudiesToSimulate& wanted) {
  Workload workload;
  workload.service.seed = static_cast<std::uint64_t>(wanted.seed);
  workload.service.measures.seed = workload.service.seed;
  workload.service.durations.train = Seconds(static_cast<double>(wanted.step_seconds));
  for (const std::string& path : wanted.files) {
    if (const auto added = AddStudy(workload, path); !added.has_value()) return tl::unexpected(added.error());
  }
  for (const auto& read :
       {ReadTables(workload, wanted.metrics), ReadSchedule(workload, wanted), ReadChoices(workload, wanted)}) {
    if (!read.has_value()) return tl::unexpected(read.error());
  }
  return workload;
}

struct Simulated {
  std::string policy;
  std::optional<Scope> scope;
  sim::SimulatedStudies result;
};

double MergeRateOf(const sim::SimulatedSteps& steps) {
  return steps.unique == 0 ? 0 : static_cast<double>(steps.claimed) / static_cast<double>(steps.unique);
}

Json ToJson(const master::StepCounts& steps) {
  return Json::Object({{"claimed", steps.claimed},
                       {"unique", steps.unique},
                       {"trained", steps.trained},
                       {"re_derived", steps.re_derived},
                       {"wasted", steps.wasted}});
}

// Steps that several studies asked for, or that runs trained for several, count for each of these.
Json ToJson(const Workload& workload, const Simulated& simulated, std::int64_t slots) {
  Json studies = Json::Array();
  for (std::size_t i = 0; i < workload.studies.size(); ++i) {
    const sim::SimulatedStudy& study = simulated.result.studies[i];
    std::int64_t trials = 0;
    for (const auto& [state, count] : study.summary.trials_by_state) trials += count;
    studies.Append(Json::Object({{"name", workload.studies[i].specification.name},
                                 {"team", workload.studies[i].team},
                                 {"trials", trials},
                                 {"arrives_at_seconds", workload.studies[i].arrives_at.count()},
                                 {"end_to_end_seconds", study.end_to_end.count()},
                                 {"bound_seconds", study.summary.makespan_bound.count()},
                                 {"device_hours", study.summary.use.device.count() / 3600},
                                 {"steps", ToJson(study.summary.steps)},
                                 {"merge_rate", study.summary.merge_rate},
                                 {"time_weighted_merge_rate", study.summary.time_weighted_merge_rate}}));
  }
  Json object = Json::Object({{"policy", simulated.policy},
                              {"slots", slots},
                              {"device_hours", simulated.result.slot_time.count() / 3600},
                              {"end_to_end_seconds", simulated.result.end_to_end.count()},
                              {"bound_seconds", simulated.result.bound.count()},
                              {"steps", Json::Object({{"claimed", simulated.result.steps.claimed},
                                                      {"unique", simulated.result.steps.unique},
                                                      {"trained", simulated.result.steps.trained}})},
                              {"merge_rate", MergeRateOf(simulated.result.steps)},
                              {"studies", std::move(studies)}});
  object.Add("share", simulated.scope ? Json(Name(*simulated.scope)) : Json(nullptr));
  return object;
}

void PrintTable(std::ostream& out, const std::vector<Simulated>& all) {
  Table table({"policy", "share", "end to end", "at least", "device time", "steps asked for", "trained", "merge rate"});
  for (const Simulated& each : all) {
    table.AddRow({each.policy, each.scope ? std::string(Name(*each.scope)) : "as written",
                  FormatDuration(each.result.end_to_end.count()), FormatDuration(each.result.bound.count()),
                  FormatDuration(each.result.slot_time.count()), FormatCount(each.result.steps.claimed),
                  FormatCount(each.result.steps.trained), FormatNumber(MergeRateOf(each.result.steps))});
  }
  table.Print(out);
}

int Fail(CommandContext& context, const Mistake& mistake) {
  context.err << "espalier: ";
  if (const auto* of_file = std::get_if<FileError>(&mistake)) {
    context.err << Print(*of_file) << "\n";
  } else {
    const auto& error = std::get<Error>(mistake);
    context.err << error.field << ": " << error.message << "\n";
  }
  return kExitUsage;
}

Checked<std::vector<Simulated>> SimulateEach(Workload& workload) {
  std::vector<Simulated> all;
  for (const std::string& policy : workload.policies) {
    for (const std::optional<Scope> scope : workload.scopes) {
      std::vector<sim::StudyToSimulate> studies = workload.studies;
      for (sim::StudyToSimulate& study : studies) study.specification.scope = scope.value_or(study.specification.scope);
      workload.service.policy = policy;
      std::size_t at = 0;
      Result<sim::SimulatedStudies> result = sim::SimulateStudies(workload.service, studies, &at);
      if (!result.has_value()) {
        return tl::unexpected<Mistake>(AtRequestField(workload.files[at], result.error()));
      }
      all.push_back({policy, scope, *std::move(result)});
    }
  }
  return all;
}

}  // namespace

int SimulateStudies(CommandContext& context, const StudiesToSimulate& wanted) {
  Checked<Workload> workload = ReadWorkload(wanted);
  if (!workload.has_value()) return Fail(context, workload.error());
  const Checked<std::vector<Simulated>> all = SimulateEach(*workload);
  if (!all.has_value()) return Fail(context, all.error());
  std::int64_t slots = 0;
  for (const sim::SimulatedServer& server : workload->service.servers) slots += server.slots;
  if (context.output == OutputFormat::kText) {
    PrintTable(context.out, *all);
    return kExitDone;
  }
  Json array = Json::Array();
  for (const Simulated& each : *all) array.Append(ToJson(*workload, each, slots));
  PrintJson(context.out, array);
  return kExitDone;
}

}  // namespace espalier
