// espalier simulate FILE, or --seeds N, or --studies N
#include <algorithm>
#include <fstream>
#include <memory>
#include <ostream>
#include <sstream>
#include <thread>

#include "client/cli/commands.h"
#include "client/json.h"
#include "client/study_file/study_file.h"
#include "scheduler/policy.h"
#include "sim/learning_curves.h"
#include "sim/seeds.h"
#include "sim/tuned_study.h"

namespace espalier {
namespace {

constexpr const char* kFormula = "formula";

struct Options {
  std::string file;
  std::string policy = "critical_path";
  std::string metrics = kFormula;
  std::int64_t slots = 2;
  std::int64_t seed = 1;
  std::int64_t seeds = 0;
  std::int64_t studies = 0;
  std::int64_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::int64_t trace = 60;
  std::int64_t broken_max = 10;
};

void PrintBroken(std::ostream& out, const sim::Outcome& outcome, bool with_faults) {
  out << "seed " << outcome.seed << ": broken: " << outcome.broken_law << "\n";
  for (const std::string& line : outcome.trace) out << line << "\n";
  out << "replay: espalier simulate " << (with_faults ? "--seeds" : "--studies") << " 1 --from " << outcome.seed
      << " --trace 2000\n";
}

int RunSeeds(CommandContext& context, const Options& options) {
  const bool with_faults = options.studies == 0;
  sim::SeedSettings settings{.first = static_cast<std::uint64_t>(options.seed),
                             .count = with_faults ? options.seeds : options.studies,
                             .threads = static_cast<int>(options.threads),
                             .trace_line_count = static_cast<std::size_t>(options.trace),
                             .broken_max = options.broken_max};
  if (!with_faults) settings.simulation = sim::WithoutFaults();
  const sim::SeedTotals totals =
      sim::RunSeeds(settings, [&](const sim::Outcome& outcome) { PrintBroken(context.err, outcome, with_faults); });
  if (context.output == OutputFormat::kJson) {
    PrintJson(
        context.out,
        Json::Object({{"seeds", totals.seeds},
                      {"broken", totals.broken},
                      {"trials", totals.trials},
                      {"runs", totals.runs},
                      {"steps", Json::Object({{"trained", totals.trained_steps}, {"unique", totals.unique_steps}})},
                      {"changes_max", totals.changes_max}}));
  } else {
    context.out << totals.seeds << " seeds, " << totals.broken << " broke a law; " << totals.trials << " trials, "
                << totals.runs << " runs, " << totals.trained_steps << " steps trained, " << totals.unique_steps
                << " of them unique, at most " << totals.changes_max << " changes by one event\n";
  }
  return totals.broken == 0 ? kExitDone : kExitRefused;
}

void PrintStudy(CommandContext& context, const sim::SimulatedStudy& study) {
  const auto& summary = study.summary;
  std::int64_t trials = 0;
  for (const auto& [state, count] : summary.trials_by_state) trials += count;
  if (context.output == OutputFormat::kText) {
    context.out << FormatDuration(study.end_to_end.count()) << " for " << FormatCount(trials)
                << " trials: " << FormatCount(summary.steps.claimed) << " steps asked for, "
                << FormatCount(summary.steps.trained) << " trained, merge rate " << FormatNumber(summary.merge_rate)
                << "\n";
    return;
  }
  PrintJson(context.out, Json::Object({{"end_to_end_seconds", study.end_to_end.count()},
                                       {"makespan_bound_seconds", summary.makespan_bound.count()},
                                       {"trials", trials},
                                       {"steps", Json::Object({{"claimed", summary.steps.claimed},
                                                               {"unique", summary.steps.unique},
                                                               {"trained", summary.steps.trained},
                                                               {"re_derived", summary.steps.re_derived},
                                                               {"wasted", summary.steps.wasted}})},
                                       {"merge_rate", summary.merge_rate},
                                       {"time_weighted_merge_rate", summary.time_weighted_merge_rate}}));
}

Result<sim::LearningCurves> ReadCurves(const std::string& path, const std::string& metric, const ValueTypes& types) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || file.bad()) return MakeError(ErrorCode::kNotFound, "the file cannot be read");
  return sim::LearningCurves::Parse(text.str(), metric, types);
}

int RunStudy(CommandContext& context, const Options& options) {
  if (const auto policy = MakePolicy(options.policy); !policy.has_value()) {
    context.err << "espalier: --policy: " << policy.error().message << "\n";
    return kExitUsage;
  }
  const auto file = ReadStudyFile(options.file);
  const auto fail = [&](const FileError& error) {
    context.err << "espalier: " << Print(error) << "\n";
    return kExitUsage;
  };
  if (!file.has_value()) return fail(file.error());
  const Result<ValueTypes> types = GuessTypes(*file, Schema{});
  if (!types.has_value()) return fail(AtField(*file, types.error()));
  sim::StudyToSimulate study{.slot_count = static_cast<int>(options.slots),
                             .seed = static_cast<std::uint64_t>(options.seed),
                             .policy = options.policy};
  study.specification = {.name = file->specification.name,
                         .trainer = file->specification.trainer,
                         .data = file->specification.data,
                         .step = file->specification.step,
                         .evaluate_every = file->specification.evaluate_every_steps,
                         .hang_after = file->specification.hang_after,
                         .stop = file->specification.stop,
                         .metric = file->specification.metric,
                         .goal = file->specification.goal,
                         .scope = file->specification.scope,
                         .undeclared = *types,
                         .tuner = file->specification.tuner,
                         .asks_for_idle_slots = file->specification.asks_for_idle_slots};
  if (options.metrics != kFormula) {
    Result<sim::LearningCurves> curves = ReadCurves(options.metrics, study.specification.metric, *types);
    if (!curves.has_value()) {
      context.err << "espalier: --metrics: " << options.metrics << ": " << curves.error().message << "\n";
      return kExitUsage;
    }
    study.curves = std::make_shared<const sim::LearningCurves>(std::move(*curves));
  }
  const Result<sim::SimulatedStudy> simulated = sim::SimulateStudy(study, [&] { return MakeTunerOf(*file); });
  if (!simulated.has_value()) return fail(AtRequestField(*file, simulated.error()));
  PrintStudy(context, *simulated);
  return kExitDone;
}

int Run(CommandContext& context, const Options& options) {
  const int wanted = (options.file.empty() ? 0 : 1) + (options.seeds > 0 ? 1 : 0) + (options.studies > 0 ? 1 : 0);
  if (wanted == 1) return options.file.empty() ? RunSeeds(context, options) : RunStudy(context, options);
  context.err << "espalier: expected one of FILE, --seeds N, --studies N\n";
  return kExitUsage;
}

}  // namespace

Command SimulateCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{
      .name = "simulate",
      .help = "The service's own code in virtual time: how long a study takes, or whether the laws hold. No server.",
      .arguments = {{"FILE", &options->file, "how long this study file takes; a step 1 s",
                     /*optional=*/true}},
      .options = {{.name = "--slots", .target = &options->slots, .help = "of the server, for FILE", .at_least = 1},
                  {.name = "--policy",
                   .target = &options->policy,
                   .help = "for FILE: critical_path, breadth_first or throughput"},
                  {.name = "--metrics",
                   .target = &options->metrics,
                   .help = "for FILE: 'formula', or a CSV table with the columns step, the metric, hyper-parameters"},
                  {.name = "--seeds",
                   .target = &options->seeds,
                   .help = "so many services with faults, the laws checked from outside",
                   .at_least = 1},
                  {.name = "--studies",
                   .target = &options->studies,
                   .help = "so many studies in which nothing goes wrong, the laws checked from outside",
                   .at_least = 1},
                  {.name = "--from,--seed", .target = &options->seed, .help = "the first one's seed", .at_least = 0},
                  {.name = "--threads", .target = &options->threads, .help = "side by side", .at_least = 1},
                  {.name = "--broken-max",
                   .target = &options->broken_max,
                   .help = "begin no further one once so many broke a law",
                   .at_least = 1},
                  {.name = "--trace",
                   .target = &options->trace,
                   .help = "of one that breaks a law: print so many last lines of what happened",
                   .at_least = 0}}};
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
