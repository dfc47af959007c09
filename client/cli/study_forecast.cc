// espalier study forecast FILE...
#include <CLI/CLI.hpp>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/study_file.h"
#include "client/convert.h"

namespace espalier {
namespace {

void PrintForecast(std::ostream& out, const v1::ForecastResponse& forecast) {
  Table table({"study", "trials", "total steps", "unique steps", "merge rate"});
  for (const v1::StudyForecast& study : forecast.studies()) {
    table.AddRow({study.name(), FormatCount(study.trials()), FormatCount(study.total_steps()),
                  FormatCount(study.unique_steps()), FormatNumber(study.merge_rate())});
  }
  if (forecast.studies_size() != 1) {
    table.AddRow({"together", FormatCount(forecast.trials()), FormatCount(forecast.total_steps()),
                  FormatCount(forecast.unique_steps()), FormatNumber(forecast.merge_rate())});
  }
  table.Print(out);
  out << "\nof the unique steps  " << FormatCount(forecast.trained_steps()) << " are trained already, "
      << FormatCount(forecast.remaining_steps()) << " remain\n";
  out << "slot-seconds         " << FormatNumber(forecast.slot_seconds()) << '\n';
  out << "at the least         " << FormatDuration(forecast.critical_path_seconds())
      << ", however many slots there are\n";
  out << "checkpoints          " << FormatBytes(forecast.checkpoint_bytes()) << '\n';
}

void AddStudy(v1::ForecastRequest& request, const StudyFile& file) {
  v1::ForecastStudy& study = *request.add_studies();
  *study.mutable_study() = ToWire(file.specification);
  for (const StartTrial& trial : MakeTunerOf(file)->WholeTrials()) *study.add_trials() = ToWire(trial);
}

int Run(CommandContext& context, const std::vector<std::string>& paths) {
  std::vector<StudyFile> files;
  for (const std::string& path : paths) {
    tl::expected<StudyFile, FileError> file = ReadStudyFile(path);
    if (!file.has_value()) return FailFile(context, file.error());
    files.push_back(std::move(*file));
  }
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<std::vector<v1::TrainerDescription>> trainers = ListTrainersOf(client->connection());
  if (!trainers.has_value()) return Fail(context, trainers.error());
  v1::ForecastRequest request;
  for (const StudyFile& file : files) {
    const tl::expected<void, FileError> checked = CheckTrainer(file, *trainers);
    if (!checked.has_value()) return FailFile(context, checked.error());
    AddStudy(request, file);
  }
  const Result<v1::ForecastResponse> forecast = client->connection().Forecast(request);
  if (!forecast.has_value()) return Fail(context, forecast.error());
  if (context.output == OutputFormat::kJson) {
    PrintJson(context.out, ToJson(*forecast));
  } else {
    PrintForecast(context.out, *forecast);
  }
  return kExitDone;
}

}  // namespace

void RegisterStudyForecast(CLI::App& study, CommandContext& context) {
  CLI::App& command = *study.add_subcommand(
      "forecast", "What study files would cost, before they run: steps, merge rate, time, disk. Nothing is stored.");
  const auto paths = std::make_shared<std::vector<std::string>>();
  command.add_option("FILE", *paths, "the study files (YAML)")->required()->option_text("...");
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  OnCommand(command, context, [&context, paths] { return Run(context, *paths); });
}

}  // namespace espalier
