#include "client/cli/trial_continue.h"

#include <algorithm>
#include <ostream>

#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/request_id.h"

namespace espalier {
namespace {

// What the study is, in place of a search space and a tuner.
std::string DefinitionOf(const v1::ContinueTrialRequest& request) {
  const Json continues = Json::Object({{"trial", request.trial_id()},
                                       {"from_step", request.from_step()},
                                       {"steps", request.steps()},
                                       {"sequences", Json::Sorted(request.sequences())}});
  return CompactJson(Json::Object({{"study", request.name()}, {"continues", continues}}));
}

void PrintTrial(std::ostream& out, const v1::Trial& trial, const v1::ContinueTrialRequest& request) {
  out << "trial " << trial.trial_id() << " of " << request.name() << ", from trial " << request.trial_id() << ": "
      << trial.state() << " at step " << FormatCount(trial.steps());
  if (trial.has_metric()) out << ", metric " << FormatNumber(trial.metric());
  if (!trial.message().empty()) out << ", " << trial.message();
  out << '\n';
}

}  // namespace

Result<ContinuedTrial> ContinueTrial(CommandContext& context, Client& client, v1::ContinueTrialRequest& request) {
  if (request.name().empty()) {
    request.set_name("trial-" + std::to_string(request.trial_id()) +
                     (request.sequences().empty() ? "-extended" : "-branched"));
  }
  request.set_request_id(NewRequestId());
  request.set_definition(DefinitionOf(request));
  ESPALIER_ASSIGN(const v1::ContinueTrialResponse response, client.connection().ContinueTrial(request));
  context.err << "study " << response.study_id() << ", " << request.name() << ": trial " << response.trial_id()
              << " goes on from trial " << request.trial_id() << std::endl;
  ESPALIER_RETURN_IF_ERROR(client.OpenStudy(StudyId{response.study_id()}).WaitUntilFinished());
  ESPALIER_ASSIGN(const std::vector<v1::Trial> trials,
                  ListTrialsOf(client.connection(), {.study = std::to_string(response.study_id())}));
  return ContinuedTrial{response.study_id(), trials.at(0)};
}

int GoOnFromTrial(CommandContext& context, v1::ContinueTrialRequest request) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<ContinuedTrial> continued = ContinueTrial(context, *client, request);
  if (!continued.has_value()) return Fail(context, continued.error());
  const v1::Trial& trial = continued->trial;
  if (context.output == OutputFormat::kJson) {
    Json document = ToJson(trial);
    document.Add("study", continued->study);
    PrintJson(context.out, document);
  } else {
    PrintTrial(context.out, trial, request);
  }
  return trial.state() == "done" ? kExitDone : kExitRefused;
}

}  // namespace espalier
