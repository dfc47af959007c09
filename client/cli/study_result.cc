#include "client/cli/study_result.h"

#include <ostream>

#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/study_view.h"

namespace espalier {
namespace {

constexpr std::size_t kBestTrialsShown = 10;

}  // namespace

int ShowResult(CommandContext& context, Connection& connection, StudyId id) {
  const Result<v1::StudySummary> study = FindStudy(connection, std::to_string(id.value));
  if (!study.has_value()) return Fail(context, study.error());
  const bool is_stopped = study->check().state() == "failed";
  if (is_stopped) {
    context.err << "espalier: the study was stopped: " << study->check().text() << std::endl;
  } else if (study->cancelled()) {
    context.err << "espalier: the study was cancelled; to go on from what is trained: espalier trial list "
                << study->study_id() << ", espalier trial extend" << std::endl;
  }
  const int code = is_stopped || study->cancelled() ? kExitRefused : kExitDone;
  if (context.output == OutputFormat::kJson) {
    PrintJson(context.out, ToJson(*study));
    return code;
  }
  const Result<std::vector<v1::Trial>> trials = ListTrialsOf(connection, {.study = std::to_string(id.value)});
  if (!trials.has_value()) return Fail(context, trials.error());
  PrintStudy(context.out, *study);
  context.out << '\n';
  PrintBestTrials(context.out, *study, *trials, kBestTrialsShown);
  context.out << "\nall trials: espalier trial list " << id.value << "; the stage tree: espalier plan show " << id.value
              << '\n';
  return code;
}

}  // namespace espalier
