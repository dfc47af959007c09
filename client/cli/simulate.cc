// espalier simulate FILE..., or --trace FILE, or --seeds N, or --studies N
#include <algorithm>
#include <memory>
#include <ostream>
#include <thread>

#include "client/cli/commands.h"
#include "client/cli/simulate_studies.h"
#include "client/json.h"
#include "sim/node_process.h"
#include "sim/seeds.h"

namespace espalier {
namespace {

struct Options {
  StudiesToSimulate wanted;
  std::int64_t seeds = 0;
  std::int64_t studies = 0;
  std::int64_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::int64_t last_lines = 60;
  std::int64_t broken_max = 10;
};

void PrintBroken(std::ostream& out, const sim::Outcome& outcome, bool with_faults) {
  out << "seed " << outcome.seed << ": broken: " << outcome.broken_law << "\n";
  for (const std::string& line : outcome.trace) out << line << "\n";
  out << "replay: espalier simulate " << (with_faults ? "--seeds" : "--studies") << " 1 --from " << outcome.seed
      << " --last-lines 2000\n";
}

int RunSeeds(CommandContext& context, const Options& options) {
  const bool with_faults = options.studies == 0;
  sim::SeedSettings settings{.first = static_cast<std::uint64_t>(options.wanted.seed),
                             .count = with_faults ? options.seeds : options.studies,
                             .threads = static_cast<int>(options.threads),
                             .trace_line_count = static_cast<std::size_t>(options.last_lines),
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

int Run(CommandContext& context, const Options& options) {
  const bool has_files = !options.wanted.files.empty();
  const bool has_trace = !options.wanted.trace.empty();
  const int chosen =
      (has_files ? 1 : 0) + (has_trace ? 1 : 0) + (options.seeds > 0 ? 1 : 0) + (options.studies > 0 ? 1 : 0);
  if (chosen == 1)
    return has_files || has_trace ? SimulateStudies(context, options.wanted) : RunSeeds(context, options);
  context.err << "espalier: expected one of FILE..., --trace FILE, --seeds N, --studies N\n";
  return kExitUsage;
}

// What is simulated, and on what.
std::vector<Command::Option> OfWorkload(StudiesToSimulate& wanted) {
  return {
      {.name = "--slots",
       .target = &wanted.slots,
       .help = "of the one server, for FILEs (2 unless set) or instead of a trace's servers",
       .at_least = 1,
       .at_most = sim::kSimulatedSlotsMax},
      {.name = "--servers",
       .target = &wanted.servers,
       .help = "instead of one server those of this file, a list such as - {slots: 4, speed: 2, count: 3} or "
               "- {slots: 8, gpus: 4, price: 12.5}",
       .placeholder = "FILE"},
      {.name = "--step-seconds",
       .target = &wanted.step_seconds,
       .help =
           "for FILEs: how long a step takes on a server of speed 1 (1 unless set), or a CSV table with the columns "
           "seconds, hyper-parameters, perhaps utilization and memory_bytes of a GPU",
       .placeholder = "N|FILE"},
      {.name = "--policy",
       .target = &wanted.policies,
       .help = "critical_path or another that `espalier server policy` lists, or several by commas",
       .placeholder = "NAMES"},
      {.name = "--share",
       .target = &wanted.shares,
       .help = "nobody, study, team or everyone instead of what they say, or several by commas",
       .placeholder = "SCOPES"},
      {.name = "--save-every",
       .target = &wanted.save_every,
       .help = "runs save as they pass every so many steps, for comparison; where it pays unless set",
       .placeholder = "N",
       .at_least = 1},
      {.name = "--arrivals",
       .target = &wanted.arrivals,
       .help = "when studies come, a mapping such as NAME: 30m or NAME: {after: 30m, team: vision}; the others come "
               "at once",
       .placeholder = "FILE"},
      {.name = "--metrics",
       .target = &wanted.metrics,
       .help = "for FILEs: 'formula', or a CSV table with the columns step, the metric, hyper-parameters, perhaps "
               "train_loss"},
      {.name = "--trace",
       .target = &wanted.trace,
       .help = "instead of FILEs: replay what really happened, as espalier study export --trace wrote it",
       .placeholder = "FILE"},
      {.name = "--plot",
       .target = &wanted.plot,
       .help = "draw what slots are used for into this file, too",
       .placeholder = "FILE.svg"}};
}

}  // namespace

Command SimulateCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{
      .name = "simulate",
      .help = "The service's own code in virtual time: how long studies take, or whether the laws hold. No server.",
      .arguments = {{"FILE", &options->wanted.files, "how long these study files take together",
                     /*optional=*/true}},
      .options = OfWorkload(options->wanted)};
  const std::vector<Command::Option> more{
      {.name = "--seeds",
       .target = &options->seeds,
       .help = "so many services with faults, the laws checked from outside",
       .at_least = 1},
      {.name = "--studies",
       .target = &options->studies,
       .help = "so many studies in which nothing goes wrong, the laws checked from outside",
       .at_least = 1},
      {.name = "--from,--seed", .target = &options->wanted.seed, .help = "the first one's seed", .at_least = 0},
      {.name = "--threads", .target = &options->threads, .help = "side by side", .at_least = 1},
      {.name = "--broken-max",
       .target = &options->broken_max,
       .help = "begin no further one once so many broke a law",
       .at_least = 1},
      {.name = "--last-lines",
       .target = &options->last_lines,
       .help = "of one that breaks a law: print so many last lines of what happened",
       .at_least = 0}};
  command.options.insert(command.options.end(), more.begin(), more.end());
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
