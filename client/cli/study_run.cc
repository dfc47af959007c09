// espalier study run FILE
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/progress_line.h"
#include "client/cli/server_access.h"
#include "client/cli/study_view.h"
#include "client/cli/trainer_code.h"
#include "client/study_file/study_file.h"
#include "client/tuner_driver.h"

namespace espalier {
namespace {

constexpr std::size_t kBestTrialsShown = 10;

// An error that the master found: in the file if it names a field, else as it is.
int FailStudy(CommandContext& context, const StudyFile& file, const Error& error) {
  if (error.code == ErrorCode::kInvalidArgument) return FailFile(context, AtRequestField(file, error));
  return Fail(context, error);
}

Result<DriveReport> DriveWithProgress(CommandContext& context, const StudyFile& file, Study& study) {
  ProgressLine progress(context.err, context.err_is_terminal, study, file.specification.metric,
                        file.specification.goal);
  const std::unique_ptr<tuners::Tuner> tuner = MakeTunerOf(file);
  return Drive(*tuner, study,
               {.metric = file.specification.metric,
                .goal = file.specification.goal,
                .on_settled = [&](std::size_t, const Evaluation& evaluation) { progress.Report(evaluation); }});
}

int ShowResult(CommandContext& context, Connection& connection, StudyId id) {
  const Result<v1::StudySummary> study = FindStudy(connection, std::to_string(id.value));
  if (!study.has_value()) return Fail(context, study.error());
  const int code = study->check().state() == "failed" ? kExitRefused : kExitDone;
  if (code == kExitRefused) context.err << "espalier: the study was stopped: " << study->check().text() << std::endl;
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

struct Options {
  std::string path;
  std::string check;  // empty: as the file says
};

int Run(CommandContext& context, const Options& options) {
  tl::expected<StudyFile, FileError> file = ReadStudyFile(options.path);
  if (!file.has_value()) return FailFile(context, file.error());
  if (!options.check.empty()) SetCheck(*file, ParseCheckWhen(options.check).value());
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<std::vector<v1::TrainerDescription>> trainers = TrainersFor(context, client->connection(), *file);
  if (!trainers.has_value()) return FailTrainer(context, *file, trainers.error());
  const tl::expected<void, FileError> checked = CheckTrainer(*file, *trainers);
  if (!checked.has_value()) return FailFile(context, checked.error());

  Result<Study> study = client->CreateStudy(file->specification);
  if (!study.has_value()) return FailStudy(context, *file, study.error());
  context.err << (study->attached() ? "attached to study " : "study ") << study->id().value << ", "
              << file->specification.name << ": " << FormatCount(static_cast<std::int64_t>(file->candidates.size()))
              << " trials by " << file->tuner << std::endl;
  const Result<DriveReport> report = DriveWithProgress(context, *file, *study);
  if (!report.has_value()) return FailStudy(context, *file, report.error());
  const int shown = ShowResult(context, client->connection(), study->id());
  if (!report->cancelled || shown != kExitDone) return shown;
  context.err << "espalier: the study was cancelled\n";
  return kExitRefused;
}

}  // namespace

Command StudyRunCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{
      .name = "run",
      .help = "Run a study file to its end and show the result. The same file run twice at once is one study.",
      .arguments = {{"FILE", &options->path, "the study file (YAML)"}},
      .options = {{.name = "--check",
                   .target = &options->check,
                   .help =
                       "when a trainer in your own code is checked, once: beside the study's training, before it, or "
                       "never (else as the file says: beside)",
                   .placeholder = "WHEN",
                   .one_of = {"beside", "first", "off"}}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
