#include "client/cli/simulate_studies.h"

#include <charconv>
#include <fstream>
#include <optional>
#include <ostream>
#include <utility>
#include <variant>

#include "base/text_file.h"
#include "client/cli/simulation_results.h"
#include "client/json.h"
#include "client/simulation/replay.h"
#include "client/simulation/simulation_files.h"
#include "client/simulation/study_to_simulate.h"
#include "client/simulation/trace.h"
#include "client/study_file/study_file.h"
#include "client/study_file/study_values.h"
#include "scheduler/policy.h"
#include "sim/simulated_studies.h"
#include "sim/step_demands.h"
#include "sim/value_table.h"

namespace espalier {
namespace {

constexpr const char* kFormula = "formula";
constexpr const char* kTrainLoss = "train_loss";  // a column of tables: what steps return

// What a mistake is of: a file, or an option of the command line.
using Mistake = std::variant<FileError, Error>;
template <class T>
using Checked = tl::expected<T, Mistake>;

tl::unexpected<Mistake> WrongOption(const std::string& option, const std::string& message) {
  return tl::unexpected<Mistake>(Error{ErrorCode::kInvalidArgument, message, option});
}

// The studies of the files, or of a trace, and one service; policies and scopes go over them.
struct Workload {
  std::vector<StudyFile> files;
  std::optional<Trace> trace;  // then there are no files
  std::optional<Replay> replay;
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

// Of the hyper-parameters of all studies. `option`: whose table needs them.
Checked<ValueTypes> TypesOf(const Workload& workload, const std::string& option) {
  ValueTypes types;
  for (const sim::StudyToSimulate& study : workload.studies) {
    for (const auto& [name, type] : study.specification.undeclared) {
      if (types.emplace(name, type).first->second == type) continue;
      return WrongOption(option, "the studies have values of different types for '" + name + "'");
    }
  }
  return types;
}

// The same table for every study: each takes its own metric from it.
Checked<void> ReadTables(Workload& workload, const std::string& path) {
  if (path == kFormula) return {};
  const Result<std::string> text = ReadTextFile(path);
  if (!text.has_value()) return WrongOption("--metrics", path + ": " + text.error().message);
  const Checked<ValueTypes> types = TypesOf(workload, "--metrics");
  if (!types.has_value()) return tl::unexpected(types.error());
  for (const sim::StudyToSimulate& study : workload.studies) {
    const std::string& metric = study.specification.metric;
    if (workload.service.measures.tables.contains(metric)) continue;
    Result<sim::LearningCurves> curves = sim::LearningCurves::Parse(*text, metric, *types);
    if (!curves.has_value()) return WrongOption("--metrics", path + ": " + curves.error().message);
    workload.service.measures.tables.emplace(metric, *std::move(curves));
  }
  if (!sim::ValueTable::HasColumn(*text, kTrainLoss)) return {};
  Result<sim::LearningCurves> losses = sim::LearningCurves::Parse(*text, kTrainLoss, *types);
  if (!losses.has_value()) return WrongOption("--metrics", path + ": " + losses.error().message);
  workload.service.measures.losses = *std::move(losses);
  return {};
}

// A number, or a file.
Checked<void> ReadSteps(Workload& workload, const std::string& said) {
  constexpr double kLeast = 1e-6;
  constexpr double kMost = 86400;
  if (said.empty()) return {};
  double seconds = 0;
  const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), seconds);
  if (error == std::errc() && end == said.data() + said.size()) {
    if (seconds >= kLeast && seconds <= kMost) {
      workload.service.durations.train = Seconds(seconds);
      return {};
    }
    return WrongOption("--step-seconds", "got " + said + "; expected a number from 0.000001 to 86400, or a CSV file");
  }
  const Result<std::string> text = ReadTextFile(said);
  if (!text.has_value()) return WrongOption("--step-seconds", said + ": " + text.error().message);
  const Checked<ValueTypes> types = TypesOf(workload, "--step-seconds");
  if (!types.has_value()) return tl::unexpected(types.error());
  Result<sim::TableOfSteps> table = sim::ParseTableOfSteps(*text, *types);
  if (!table.has_value()) return WrongOption("--step-seconds", said + ": " + table.error().message);
  workload.service.measures.demands = std::move(table->demands);
  workload.service.durations.train = table->shortest;  // as often as that node managers look at what trains
  return {};
}

// What takes how long, and what is measured, the trace says.
Checked<void> ReadTrace(Workload& workload, const StudiesToSimulate& wanted) {
  if (wanted.metrics != kFormula) return WrongOption("--metrics", "a trace has its own metrics");
  if (!wanted.step_seconds.empty()) return WrongOption("--step-seconds", "a trace has its own times");
  tl::expected<Trace, FileError> trace = ReadTraceFile(wanted.trace);
  if (!trace.has_value()) return tl::unexpected<Mistake>(trace.error());
  Result<Replay> replay = ReplayOf(*trace);
  if (!replay.has_value()) return tl::unexpected<Mistake>(replay.error());
  workload.trace = *std::move(trace);
  workload.replay = *std::move(replay);
  workload.studies = workload.replay->studies;
  workload.service.durations = workload.replay->durations;
  return {};
}

Checked<void> ReadServersOf(Workload& workload, const StudiesToSimulate& wanted) {
  constexpr int kSlotsUsual = 2;
  if (!wanted.servers.empty()) {
    auto servers = ReadServers(wanted.servers);
    if (!servers.has_value()) return tl::unexpected<Mistake>(servers.error());
    workload.service.servers = *std::move(servers);
  } else if (workload.replay && !wanted.slots) {
    workload.service.servers = workload.replay->servers;
  } else {
    workload.service.servers = {{.slots = wanted.slots.value_or(kSlotsUsual)}};
  }
  for (std::size_t i = 0; i < workload.service.servers.size(); ++i) {
    std::string& name = workload.service.servers[i].name;
    if (name.empty()) name = "server-" + std::to_string(i);
  }
  return {};
}

Seconds LeadOf(const Workload& workload) { return workload.replay ? workload.replay->lead : Seconds{0}; }

Checked<void> ReadArrivalsOf(Workload& workload, const StudiesToSimulate& wanted) {
  if (wanted.arrivals.empty()) return {};
  std::vector<std::string> names;
  for (const sim::StudyToSimulate& study : workload.studies) names.push_back(study.specification.name);
  const auto arrivals = ReadArrivals(wanted.arrivals, names);
  if (!arrivals.has_value()) return tl::unexpected<Mistake>(arrivals.error());
  for (sim::StudyToSimulate& study : workload.studies) {
    const auto arrival = arrivals->find(study.specification.name);
    if (arrival == arrivals->end()) continue;
    study.arrives_at = arrival->second.after + LeadOf(workload);
    study.team = arrival->second.team.value_or(study.team);
  }
  return {};
}

Checked<void> ReadChoices(Workload& workload, const StudiesToSimulate& wanted) {
  const std::string usual = workload.trace && !workload.trace->head.policy.empty() ? workload.trace->head.policy
                                                                                   : std::string(kDefaultPolicy);
  workload.policies = ListOf(wanted.policies.value_or(usual));
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
  workload.service.save_every_steps = wanted.save_every;
  if (!wanted.trace.empty()) {
    if (const auto read = ReadTrace(workload, wanted); !read.has_value()) return tl::unexpected(read.error());
  }
  for (const std::string& path : wanted.files) {
    if (const auto added = AddStudy(workload, path); !added.has_value()) return tl::unexpected(added.error());
  }
  for (const auto& read :
       {ReadTables(workload, wanted.metrics), ReadSteps(workload, wanted.step_seconds), ReadServersOf(workload, wanted),
        ReadArrivalsOf(workload, wanted), ReadChoices(workload, wanted)}) {
    if (!read.has_value()) return tl::unexpected(read.error());
  }
  return workload;
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

// In a trace the error has no line: its studies are refused as a whole.
Mistake MistakeOf(const Workload& workload, std::size_t study, const Error& error) {
  if (!workload.trace) return AtRequestField(workload.files[study], error);
  return Error{error.code, "study " + workload.trace->studies[study].name + ": " + error.message, "--trace"};
}

Checked<std::vector<Simulated>> SimulateEach(Workload& workload) {
  std::vector<Simulated> all;
  if (workload.replay) workload.service.measures.recorded = &workload.replay->recorded;
  for (const std::string& policy : workload.policies) {
    for (const std::optional<Scope> scope : workload.scopes) {
      std::vector<sim::StudyToSimulate> studies = workload.studies;
      for (sim::StudyToSimulate& study : studies) study.specification.scope = scope.value_or(study.specification.scope);
      workload.service.policy = policy;
      std::size_t at = 0;
      Result<sim::SimulatedStudies> result = sim::SimulateStudies(workload.service, studies, &at);
      if (!result.has_value()) {
        return tl::unexpected<Mistake>(MistakeOf(workload, at, result.error()));
      }
      all.push_back({policy, scope, *std::move(result)});
    }
  }
  return all;
}

SimulationResults ResultsOf(Workload workload, std::vector<Simulated> all) {
  SimulationResults results{
      .lead = LeadOf(workload), .servers = std::move(workload.service.servers), .all = std::move(all)};
  for (const sim::StudyToSimulate& study : workload.studies) {
    results.names.push_back(study.specification.name);
    results.arrivals.push_back(study.arrives_at - results.lead);
    results.teams.push_back(study.team);
  }
  results.really = std::move(workload.trace);
  return results;
}

Result<void> Draw(const SimulationResults& results, const std::string& path) {
  std::ofstream file(path);
  file << PictureOf(results);
  if (file.flush()) return {};
  return MakeError(ErrorCode::kInternal, "cannot write " + path, "--plot");
}

// What of a replay did not really happen so.
void PrintEstimates(std::ostream& err, const SimulationResults& results) {
  for (const TracedStudy& study : results.really->studies) {
    if (study.reused_steps == 0) continue;
    err << "of study " << study.name << " " << FormatCount(study.reused_steps)
        << " steps were trained before, by studies that the trace may not have: here they are trained with it\n";
  }
  for (const Simulated& each : results.all) {
    const sim::Estimated& estimated = each.result.estimated;
    if (estimated.steps + estimated.evaluations == 0) continue;
    err << each.policy << ": estimated, as it never really happened: the time of " << FormatCount(estimated.steps)
        << " steps, the metrics of " << FormatCount(estimated.evaluations) << " evaluations\n";
  }
}

}  // namespace

int SimulateStudies(CommandContext& context, const StudiesToSimulate& wanted) {
  Checked<Workload> workload = ReadWorkload(wanted);
  if (!workload.has_value()) return Fail(context, workload.error());
  Checked<std::vector<Simulated>> all = SimulateEach(*workload);
  if (!all.has_value()) return Fail(context, all.error());
  const SimulationResults results = ResultsOf(*std::move(workload), *std::move(all));
  if (results.really) PrintEstimates(context.err, results);
  if (!wanted.plot.empty()) {
    if (const auto drawn = Draw(results, wanted.plot); !drawn.has_value()) return Fail(context, drawn.error());
    context.err << "wrote " << wanted.plot << "\n";
  }
  if (context.output == OutputFormat::kText) {
    PrintTable(context.out, results);
  } else {
    PrintJson(context.out, InJson(results));
  }
  return kExitDone;
}

}  // namespace espalier
