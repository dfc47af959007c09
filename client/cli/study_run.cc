// espalier study run FILE
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/progress_line.h"
#include "client/cli/reuse_options.h"
#include "client/cli/server_access.h"
#include "client/cli/study_result.h"
#include "client/cli/trainers_for.h"
#include "client/study_file/study_file.h"
#include "client/tuner_driver.h"

namespace espalier {
namespace {

// An error that the master found: in the file if it names a field, else as it is.
int FailStudy(CommandContext& context, const StudyFile& file, const Error& error) {
  if (error.code == ErrorCode::kInvalidArgument) return FailFile(context, AtRequestField(file, error));
  return Fail(context, error);
}

Result<DriveReport> DriveWithProgress(CommandContext& context, const StudyFile& file, bool detach,
                                      Connection& connection, StudyId study) {
  ProgressLine progress(context.err, context.err_is_terminal, file.specification.metric, file.specification.goal);
  const std::unique_ptr<tuners::Tuner> tuner = MakeTunerOf(file);
  return Drive(*tuner, connection, study,
               {.metric = file.specification.metric,
                .goal = file.specification.goal,
                .on_settled = [&](std::size_t, const Evaluation& evaluation) { progress.Report(evaluation); },
                .on_progress = [&](const v1::StudyProgress& now) { progress.Report(now); },
                .on_lost = [&] { progress.ReportLost(); },
                .only_begin = detach});
}

// A study that refuses its very first batch holds nothing: it is cancelled, so that its name is free when the mistake
// is mended.
int FailDriven(CommandContext& context, const StudyFile& file, Study& study, const Error& error) {
  if (error.code == ErrorCode::kInvalidArgument) (void)study.Cancel();
  return FailStudy(context, file, error);
}

struct Options {
  std::string path;
  std::string check;  // empty: as the file says
  ReuseOptions reuse;
  bool detach = false;
};

int SayDetached(CommandContext& context, const StudyFile& file, const Study& study) {
  const std::string id = std::to_string(study.id().value);
  context.err << "espalier: the service carries it on; to see it: espalier study watch " << id
              << "; to end it: espalier study cancel " << id << '\n';
  if (context.output == OutputFormat::kJson) {
    PrintJson(context.out, Json::Object({{"id", study.id().value}, {"name", file.specification.name}}));
  }
  return kExitDone;
}

int Run(CommandContext& context, const Options& options) {
  tl::expected<StudyFile, FileError> file = ReadStudyFile(options.path);
  if (!file.has_value()) return FailFile(context, file.error());
  if (!options.check.empty()) SetCheck(*file, ParseCheckWhen(options.check).value());
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<void> reused = TakeReuse(client->connection(), options.reuse, *file);
  if (!reused.has_value()) return Fail(context, reused.error());
  const Result<std::vector<v1::TrainerDescription>> trainers = TrainersFor(context, client->connection(), *file);
  if (!trainers.has_value()) return FailTrainer(context, *file, trainers.error());
  const tl::expected<void, FileError> checked = CheckTrainer(*file, *trainers);
  if (!checked.has_value()) return FailFile(context, checked.error());

  Result<Study> study = client->CreateStudy(file->specification);
  if (!study.has_value()) return FailStudy(context, *file, study.error());
  context.err << (study->attached() ? "attached to study " : "study ") << study->id().value << ", "
              << file->specification.name << ": " << FormatCount(static_cast<std::int64_t>(file->candidates.size()))
              << " trials by " << file->tuner << std::endl;
  if (context.err_is_terminal && !options.detach) {
    context.err << "Ctrl-C leaves it to the service; to come back: espalier study watch " << study->id().value
                << std::endl;
  }
  const Result<DriveReport> report =
      DriveWithProgress(context, *file, options.detach, client->connection(), study->id());
  if (!report.has_value()) return FailDriven(context, *file, *study, report.error());
  if (options.detach && !report->cancelled) return SayDetached(context, *file, *study);
  return ShowResult(context, client->connection(), study->id());
}

}  // namespace

Command StudyRunCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{
      .name = "run",
      .help = "Run a study file to its end and show the result. The same file run twice at once is one study.",
      .arguments = {{"FILE", &options->path, "the study file (YAML)"}},
      .options = {
          {.name = "--detach",
           .target = &options->detach,
           .help = "begin it, and leave it to the service, whose tuner host carries it on"},
          {.name = "--check",
           .target = &options->check,
           .help = "when a trainer in your own code is checked, once: beside the study's training, before it, or "
                   "never (else as the file says: beside)",
           .placeholder = "WHEN",
           .one_of = {"beside", "first", "off"}}}};
  AddReuseOptions(command, options->reuse);
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
