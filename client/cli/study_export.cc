// espalier study export ID|NAME... [--format csv|jsonl] [--file FILE] | --trace FILE
#include <memory>
#include <ostream>
#include <vector>

#include "client/cli/commands.h"
#include "client/cli/metric_curves.h"
#include "client/cli/new_file.h"
#include "client/cli/server_access.h"
#include "client/cli/trace_export.h"

namespace espalier {
namespace {

struct Options {
  std::vector<std::string> studies;
  std::string format = "csv";
  std::optional<std::string> file;
  std::optional<std::string> trace;
};

// One call a trial: no more than one of them is held at a time.
Result<void> ForEachCurve(Connection& connection, const std::vector<std::int64_t>& trials,
                          const std::function<Result<void>(const v1::GetTrialResponse&)>& take) {
  v1::GetTrialRequest request;
  for (const std::int64_t trial : trials) {
    request.set_trial_id(trial);
    ESPALIER_ASSIGN(const v1::GetTrialResponse response, connection.GetTrial(request));
    ESPALIER_RETURN_IF_ERROR(take(response));
  }
  return {};
}

Result<void> WriteCsv(Connection& connection, const std::vector<std::int64_t>& trials, std::ostream& out) {
  CurveColumns columns;  // the first line has them: all that there will be
  ESPALIER_RETURN_IF_ERROR(ForEachCurve(connection, trials, [&](const v1::GetTrialResponse& trial) -> Result<void> {
    columns.Add(trial);
    return {};
  }));
  out << CsvHeader(columns);
  return ForEachCurve(connection, trials, [&](const v1::GetTrialResponse& trial) -> Result<void> {
    ESPALIER_ASSIGN(const std::string rows, CsvRows(columns, trial));
    out << rows;
    return {};
  });
}

Result<void> WriteJsonLines(Connection& connection, const std::vector<std::int64_t>& trials, std::ostream& out) {
  return ForEachCurve(connection, trials, [&](const v1::GetTrialResponse& trial) -> Result<void> {
    out << JsonLines(trial) << std::flush;
    return {};
  });
}

Result<void> Export(Connection& connection, const Options& options, std::ostream& out) {
  ESPALIER_ASSIGN(const std::vector<std::int64_t> trials, ListTrialIdsOf(connection, options.studies.front()));
  ESPALIER_RETURN_IF_ERROR((options.format == "csv" ? WriteCsv : WriteJsonLines)(connection, trials, out));
  if (out.flush()) return {};
  return MakeError(ErrorCode::kInternal, "cannot write all of it; is the disk full?");
}

Result<void> ExportToFile(Connection& connection, const Options& options, const std::string& path) {
  ESPALIER_ASSIGN(NewFile file, NewFile::Create(path));
  ESPALIER_RETURN_IF_ERROR(Export(connection, options, file.stream()));
  return file.Keep();
}

Result<void> ExportTraceToFile(Connection& connection, const Options& options) {
  ESPALIER_ASSIGN(NewFile file, NewFile::Create(*options.trace, "--trace"));
  ESPALIER_RETURN_IF_ERROR(ExportTrace(connection, options.studies, file.stream()));
  return file.Keep();
}

Result<void> ExportAsAsked(Connection& connection, const Options& options, std::ostream& out) {
  if (options.trace) return ExportTraceToFile(connection, options);
  return options.file ? ExportToFile(connection, options, *options.file) : Export(connection, options, out);
}

int Run(CommandContext& context, const Options& options) {
  if (options.trace && options.file) {
    context.err << "espalier: --file: --trace names the file already\n";
    return kExitUsage;
  }
  if (!options.trace && options.studies.size() > 1) {
    context.err << "espalier: STUDY: got " << options.studies.size() << "; several go into a --trace alone\n";
    return kExitUsage;
  }
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<void> exported = ExportAsAsked(client->connection(), options, context.out);
  return exported.has_value() ? kExitDone : Fail(context, exported.error());
}

}  // namespace

Command StudyExportCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{.name = "export",
                  .help = "Every metric of every trial, one row an evaluation, with the trial's sequences; or a trace",
                  .arguments = {{"STUDY", &options->studies, "its id, or its name (the newest of that name)"}},
                  .options = {{.name = "--format",
                               .target = &options->format,
                               .help = "a table (the default), or a JSON document a line",
                               .placeholder = "csv|jsonl",
                               .one_of = {"csv", "jsonl"}},
                              {.name = "--file",
                               .target = &options->file,
                               .help = "the file to be made; it must not be there yet (else standard output)",
                               .placeholder = "FILE"},
                              {.name = "--trace",
                               .target = &options->trace,
                               .help = "instead: what finished studies were, took and came to, into this new file, for "
                                       "espalier simulate --trace",
                               .placeholder = "FILE"}}};
  AddServerOptions(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
