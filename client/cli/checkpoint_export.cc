// espalier checkpoint export TRIAL FILE [--step S] [--train]
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/store_option.h"

namespace espalier {
namespace {

struct Options {
  std::int64_t trial = 0;
  std::string file;
  std::int64_t step = 0;  // 0: the last that is stored, or the trial's last
  bool train = false;
  std::string store;
};

int Run(CommandContext& context, const Options& options) {
  const Result<StoreProgram> store = FindStore(context, options.store);
  if (!store.has_value()) return Fail(context, store.error());
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<CheckpointView> state =
      client->FetchCheckpoint(TrialId{options.trial}, options.file,
                              {.step = Step{options.step},
                               .train = options.train,
                               .store = store->place(),
                               .say = [&](const std::string& training) { context.err << training << std::endl; }});
  if (!state.has_value()) return Fail(context, state.error());
  if (context.output == OutputFormat::kText) {
    context.out << "the state of trial " << options.trial << " after step " << state->step.value << ", "
                << FormatBytes(state->bytes) << ": " << options.file << '\n';
    return kExitDone;
  }
  PrintJson(
      context.out,
      Json::Object(
          {{"trial", options.trial}, {"step", state->step.value}, {"bytes", state->bytes}, {"file", options.file}}));
  return kExitDone;
}

}  // namespace

Command CheckpointExportCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{.name = "export",
                  .help = "Copy a trial's state to a safetensors file",
                  .arguments = {{"TRIAL", &options->trial, "its id"},
                                {"FILE", &options->file, "the file to be made; it must not be there yet"}},
                  .options = {{.name = "--step",
                               .target = &options->step,
                               .help = "the state after so many steps (else the last that is stored)",
                               .placeholder = "N",
                               .at_least = 1},
                              {.name = "--train",
                               .target = &options->train,
                               .help = "train to there once more, if the state is not stored (any more)"}}};
  AddStoreOption(command, options->store);
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
