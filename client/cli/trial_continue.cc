#include "client/cli/trial_continue.h"

#include <algorithm>
#include <ostream>

#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/continuation.h"

namespace espalier {
namespace {

void PrintTrial(std::ostream& out, const v1::Trial& trial, const v1::ContinueTrialRequest& request,
                const v1::Continuation& continuation) {
  out << "trial " << trial.trial_id() << " of " << request.name() << ", from trial " << request.trial_id();
  if (continuation.from_step() > 0) out << " at " << FormatCount(continuation.from_step());
  out << ": " << trial.state() << " at step " << FormatCount(trial.steps());
  if (trial.has_metric()) out << ", metric " << FormatNumber(trial.metric());
  if (!trial.message().empty()) out << ", " << trial.message();
  out << '\n';
  if (!continuation.has_decay()) return;
  const std::string& parameter = continuation.decay().parameter();
  out << "  " << parameter << " = " << trial.sequences().at(parameter) << '\n';
}

bool IsDone(const v1::Trial& trial) { return trial.state() == "done"; }

// A study of trials that go on from another, at its end.
struct ContinuedTrials {
  std::int64_t study = 0;
  std::vector<v1::Trial> trials;  // in the order of the continuations
};

Result<ContinuedTrials> ContinueTrial(CommandContext& context, Client& client, v1::ContinueTrialRequest& request) {
  ESPALIER_ASSIGN(const v1::ContinueTrialResponse response, GoOnFrom(client.connection(), request));
  context.err << "study " << response.study_id() << ", " << request.name() << ":";
  for (const std::int64_t trial : response.trial_ids()) context.err << " trial " << trial;
  context.err << (response.trial_ids_size() == 1 ? " goes" : " go") << " on from trial " << request.trial_id()
              << std::endl;
  ESPALIER_RETURN_IF_ERROR(client.OpenStudy(StudyId{response.study_id()}).WaitUntilFinished());
  ESPALIER_ASSIGN(std::vector<v1::Trial> trials,
                  ListTrialsOf(client.connection(), {.study = std::to_string(response.study_id())}));
  return ContinuedTrials{response.study_id(), std::move(trials)};
}

}  // namespace

int GoOnFromTrial(CommandContext& context, v1::ContinueTrialRequest request) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<ContinuedTrials> continued = ContinueTrial(context, *client, request);
  if (!continued.has_value()) return Fail(context, continued.error());
  const std::vector<v1::Trial>& trials = continued->trials;
  if (context.output == OutputFormat::kJson) {
    std::vector<Json> documents;
    for (const v1::Trial& trial : trials) documents.push_back(ToJson(trial));
    PrintJson(context.out, Json::Object({{"study", continued->study}, {"trials", Json::Array(std::move(documents))}}));
  } else {
    for (int i = 0; i < std::ssize(trials); ++i) {
      PrintTrial(context.out, trials[i], request, request.continuations(i));
    }
  }
  return std::ranges::all_of(trials, IsDone) ? kExitDone : kExitRefused;
}

}  // namespace espalier
