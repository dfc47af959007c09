// `espalier up` and `espalier down`.
#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "base/log.h"
#include "client/cli/commands.h"
#include "client/cli/up/up.h"

namespace espalier {
namespace {

int RunUp(CommandContext& context, UpOptions options) {
  SetUpLog("espalier-up", LogLevel::kInfo);
  options.data_directory = context.data_directory;
  const auto programs = ProgramsBesideThisOne();
  if (!programs.has_value()) return Fail(context, programs.error());
  options.programs = *programs;
  const auto say = [&context](const std::string& line) { context.err << "espalier: " << line << std::endl; };
  if (const Result<void> ran = Up(options, say); !ran.has_value()) return Fail(context, ran.error());
  return kExitDone;
}

int RunDown(CommandContext& context) {
  const Result<bool> stopped = Down(context.data_directory);
  if (!stopped.has_value()) return Fail(context, stopped.error());
  context.err << "espalier: " << (*stopped ? "stopped" : "nothing runs in " + context.data_directory) << '\n';
  return kExitDone;
}

}  // namespace

void RegisterUp(CLI::App& app, CommandContext& context) {
  CLI::App& up = *app.add_subcommand("up", "Run the service on this machine, until Ctrl-C");
  const auto options = std::make_shared<UpOptions>();
  up.add_option("--slots", options->slot_count, "how many runs to train at once (else one for each CPU core)")
      ->option_text("N")
      ->check(CLI::Range(1, 4096));
  up.add_option("--database", options->database, "use this PostgreSQL server instead of a private one")
      ->option_text("URL");
  AddDataOption(up, context);
  OnCommand(up, context, [&context, options] { return RunUp(context, *options); });
}

void RegisterDown(CLI::App& app, CommandContext& context) {
  CLI::App& down = *app.add_subcommand("down", "Stop the service that `espalier up` runs");
  AddDataOption(down, context);
  OnCommand(down, context, [&context] { return RunDown(context); });
}

}  // namespace espalier
