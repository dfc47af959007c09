// espalier simulate --seeds N|--studies N [--from SEED]
#include <algorithm>
#include <memory>
#include <ostream>
#include <thread>

#include "client/cli/commands.h"
#include "client/cli/json.h"
#include "sim/seeds.h"

namespace espalier {
namespace {

struct Options {
  std::int64_t seeds = 1;
  std::int64_t studies = 0;
  std::int64_t from = 1;
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

int Run(CommandContext& context, const Options& options) {
  sim::SeedSettings settings{.first = static_cast<std::uint64_t>(options.from),
                             .count = options.studies > 0 ? options.studies : options.seeds,
                             .threads = static_cast<int>(options.threads),
                             .trace_line_count = static_cast<std::size_t>(options.trace),
                             .broken_max = options.broken_max};
  if (options.studies > 0) settings.simulation = sim::WithoutFaults();
  const sim::SeedTotals totals = sim::RunSeeds(
      settings, [&](const sim::Outcome& outcome) { PrintBroken(context.err, outcome, options.studies == 0); });
  context.out << totals.seeds << " seeds, " << totals.broken << " broke a law; " << totals.trials << " trials, "
              << totals.runs << " runs, " << totals.trained_steps << " steps trained, " << totals.unique_steps
              << " of them unique, at most " << totals.changes_max << " changes by one event\n";
  return totals.broken == 0 ? kExitDone : kExitRefused;
}

}  // namespace

Command SimulateCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  return {.name = "simulate",
          .help = "Run the service's own code in virtual time, with faults, and check the laws from outside",
          .options = {{.name = "--seeds",
                       .target = &options->seeds,
                       .help = "how many simulations with faults",
                       .at_least = 1},
                      {.name = "--studies",
                       .target = &options->studies,
                       .help = "instead: how many studies in which nothing goes wrong",
                       .at_least = 1},
                      {.name = "--from", .target = &options->from, .help = "the first one's seed", .at_least = 0},
                      {.name = "--threads", .target = &options->threads, .help = "side by side", .at_least = 1},
                      {.name = "--broken-max",
                       .target = &options->broken_max,
                       .help = "begin no further one once so many broke a law",
                       .at_least = 1},
                      {.name = "--trace",
                       .target = &options->trace,
                       .help = "of a simulation that breaks a law: print so many last lines of what happened",
                       .at_least = 0}},
          .run = [&context, options] { return Run(context, *options); }};
}

}  // namespace espalier
