// espalier study watch ID|NAME
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/progress_line.h"
#include "client/cli/server_access.h"
#include "client/cli/study_result.h"
#include "client/event_reader.h"
#include "client/study_file/study_file.h"
#include "proto/convert_study_choices.h"

namespace espalier {
namespace {

// As its definition says; where that is no study file, as its best result does.
std::string MetricOf(const v1::StudySummary& study) {
  const Result<StudyFile> file = ParseDefinition(study.definition());
  return file.has_value() ? file->specification.metric : study.best().metric();
}

// Returns after the study's last event.
Result<void> WatchToEnd(CommandContext& context, Connection& connection, const v1::StudySummary& study) {
  ProgressLine progress(context.err, context.err_is_terminal, MetricOf(study), FromProto(study.goal()));
  EventReader reader(connection, StudyId{study.study_id()}, false, [&] { progress.ReportLost(); });
  while (true) {
    ESPALIER_ASSIGN(const EventsRead read, reader.Next());
    if (read.progress) progress.Report(*read.progress);
    for (const StudyEvent& event : read.events) {
      if (const auto* settled = std::get_if<ClaimSettled>(&event)) progress.Report(*settled);
      if (std::holds_alternative<StudyFinished>(event)) return {};
    }
  }
}

int Run(CommandContext& context, const std::string& id_or_name) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<v1::StudySummary> study = FindStudy(client->connection(), id_or_name);
  if (!study.has_value()) return Fail(context, study.error());
  if (const Result<void> watched = WatchToEnd(context, client->connection(), *study); !watched.has_value()) {
    return Fail(context, watched.error());
  }
  return ShowResult(context, client->connection(), StudyId{study->study_id()});
}

}  // namespace

Command StudyWatchCommand(CommandContext& context) {
  Command command{.name = "watch", .help = "Watch a study until it is finished, and show the result"};
  MakeAboutStudy(command, context, [&context](const std::string& id_or_name) { return Run(context, id_or_name); });
  return command;
}

}  // namespace espalier
