// espalier checkpoint export TRIAL FILE [--step S] [--train]
#include <algorithm>
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/stage_name.h"
#include "client/cli/store_program.h"
#include "client/cli/trial_continue.h"

namespace espalier {
namespace {

struct Options {
  std::int64_t trial = 0;
  std::string file;
  std::int64_t step = 0;  // 0: the last that is stored, or the trial's last
  bool train = false;
  std::string store;
};

// The trial's at that step. Error: kNotFound, naming those that are there.
Result<v1::ListedCheckpoint> FindCheckpoint(Connection& connection, const Options& options) {
  v1::ListCheckpointsRequest request;
  request.set_trial_id(options.trial);
  ESPALIER_ASSIGN(const v1::ListCheckpointsResponse listed, connection.ListCheckpoints(request));
  std::string steps;
  for (const v1::ListedCheckpoint& each : listed.checkpoints()) {
    if (each.point().step() == options.step) return each;
    steps += (steps.empty() ? "" : ", ") + std::to_string(each.point().step());
  }
  if (options.step == 0 && !listed.checkpoints().empty()) return *listed.checkpoints().rbegin();
  const std::string those =
      steps.empty() ? "no state of the trial is stored" : "stored are the states at steps " + steps;
  return MakeError(ErrorCode::kNotFound, those + "; with --train it is trained to there once more");
}

// As a study of its own, which shares all that is trained and stored.
Result<void> TrainAgain(CommandContext& context, Client& client, const Options& options) {
  v1::GetTrialRequest get;
  get.set_trial_id(options.trial);
  ESPALIER_ASSIGN(const v1::GetTrialResponse known, client.connection().GetTrial(get));
  v1::ContinueTrialRequest request;
  request.set_trial_id(options.trial);
  const std::int64_t steps = options.step > 0 ? options.step : known.trial().steps();
  request.add_continuations()->set_steps(steps);
  request.set_name("trial-" + std::to_string(options.trial) + "-state-" + std::to_string(steps));
  request.set_state_wanted(true);
  ESPALIER_ASSIGN(const ContinuedTrials continued, ContinueTrial(context, client, request));
  const v1::Trial& trained = continued.trials.at(0);
  if (trained.state() == "done") return {};
  return MakeError(ErrorCode::kFailedPrecondition,
                   "the training to there is " + trained.state() + ": " + trained.message());
}

// Error: kNotFound also where it was trained once more, and evicted at once.
Result<v1::ListedCheckpoint> FindOrTrain(CommandContext& context, Client& client, const Options& options) {
  Result<v1::ListedCheckpoint> found = FindCheckpoint(client.connection(), options);
  if (found.has_value() || !options.train || found.error().code != ErrorCode::kNotFound) return found;
  ESPALIER_RETURN_IF_ERROR(TrainAgain(context, client, options));
  return FindCheckpoint(client.connection(), options);
}

int Run(CommandContext& context, const Options& options) {
  const Result<StoreProgram> store = StoreProgram::Find(context, options.store);
  if (!store.has_value()) return Fail(context, store.error());
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<v1::ListedCheckpoint> checkpoint = FindOrTrain(context, *client, options);
  if (!checkpoint.has_value()) return Fail(context, checkpoint.error());
  const Result<void> got = store->Get(checkpoint->state().file(), options.file);
  if (!got.has_value()) return Fail(context, got.error());
  if (context.output == OutputFormat::kText) {
    context.out << "the state of trial " << options.trial << " after step " << checkpoint->point().step() << ", "
                << FormatBytes(checkpoint->state().size_bytes()) << ": " << options.file << '\n';
    return kExitDone;
  }
  PrintJson(context.out, Json::Object({{"trial", options.trial},
                                       {"step", checkpoint->point().step()},
                                       {"bytes", checkpoint->state().size_bytes()},
                                       {"file", options.file}}));
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
