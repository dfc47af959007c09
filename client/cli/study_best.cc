// espalier study best ID|NAME
#include <cmath>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/study_view.h"

namespace espalier {
namespace {

struct Best {
  std::string metric;
  v1::Trial trial;
  std::optional<v1::StoredState> checkpoint;  // of its state where it was measured, if that is stored
};

// By what each trial's deepest settled claim measured. Error: kNotFound if none measured a number.
Result<Best> FindBest(Connection& connection, const std::string& id_or_name) {
  ESPALIER_ASSIGN(const v1::StudySummary study, FindStudy(connection, id_or_name));
  ESPALIER_ASSIGN(std::vector<v1::Trial> trials, ListTrialsOf(connection, {.study = std::to_string(study.study_id()),
                                                                           .order = v1::TRIAL_ORDER_METRIC,
                                                                           .count_max = 1}));
  if (!study.has_best() || trials.empty() || !trials[0].has_metric() || std::isnan(trials[0].metric())) {
    return MakeError(ErrorCode::kNotFound,
                     "no trial of study " + id_or_name + " has a metric yet; see: espalier trial list " + id_or_name);
  }
  Best best{.metric = study.best().metric(), .trial = std::move(trials[0])};
  v1::ListCheckpointsRequest request;
  request.set_trial_id(best.trial.trial_id());
  ESPALIER_ASSIGN(const v1::ListCheckpointsResponse listed, connection.ListCheckpoints(request));
  for (const v1::ListedCheckpoint& each : listed.checkpoints()) {
    if (each.point().step() == best.trial.steps()) best.checkpoint = each.state();
  }
  return best;
}

Json ToJson(const Best& best) {
  const std::string& sha256 = best.trial.state_sha256();
  return Json::Object({{"trial", best.trial.trial_id()},
                       {"state", best.trial.state()},
                       {"metric", best.metric},
                       {"value", best.trial.metric()},
                       {"step", best.trial.steps()},
                       {"sequences", Json::Sorted(best.trial.sequences())},
                       {"origin", OriginInJson(best.trial)},
                       {"state_sha256", sha256.empty() ? Json(nullptr) : Json(sha256)},
                       {"checkpoint", best.checkpoint ? Json::Object({{"file", best.checkpoint->file()},
                                                                      {"bytes", best.checkpoint->size_bytes()}})
                                                      : Json(nullptr)}});
}

void Print(std::ostream& out, const Best& best) {
  out << "trial " << best.trial.trial_id() << ", " << best.trial.state() << ": " << best.metric << ' '
      << FormatNumber(best.trial.metric()) << " at step " << FormatCount(best.trial.steps()) << '\n';
  for (const auto& [name, text] :
       std::map<std::string, std::string>(best.trial.sequences().begin(), best.trial.sequences().end())) {
    out << "  " << name << " = " << text << '\n';
  }
  if (best.trial.has_origin()) out << "  begins with " << OriginText(best.trial) << '\n';
  if (!best.trial.state_sha256().empty()) out << "  state_sha256 = " << best.trial.state_sha256() << '\n';
  out << "  checkpoint: ";
  if (best.checkpoint) {
    out << best.checkpoint->file() << ", " << FormatBytes(best.checkpoint->size_bytes())
        << "; to have it: espalier checkpoint export " << best.trial.trial_id() << " FILE --step " << best.trial.steps()
        << '\n';
  } else {
    out << "none is stored there\n";
  }
}

int Run(CommandContext& context, const std::string& id_or_name) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<Best> best = FindBest(client->connection(), id_or_name);
  if (!best.has_value()) return Fail(context, best.error());
  if (context.output == OutputFormat::kJson) {
    PrintJson(context.out, ToJson(*best));
  } else {
    Print(context.out, *best);
  }
  return kExitDone;
}

}  // namespace

Command StudyBestCommand(CommandContext& context) {
  Command command{.name = "best",
                  .help = "The trial whose metric is best, each taken where it is measured last, and its stored state"};
  MakeAboutStudy(command, context, [&context](const std::string& id_or_name) { return Run(context, id_or_name); });
  return command;
}

}  // namespace espalier
