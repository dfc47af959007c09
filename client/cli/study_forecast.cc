// espalier study forecast FILE...
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/reuse_options.h"
#include "client/cli/server_access.h"
#include "client/cli/trainers_for.h"
#include "client/convert.h"
#include "client/study_file/study_file.h"

namespace espalier {
namespace {

constexpr char kNotMeasured[] = "not known: no step of such a training has been measured yet";

void PrintCosts(std::ostream& out, const v1::ForecastResponse& forecast) {
  out << "\nof the unique steps  ";
  if (forecast.has_trained_steps()) {
    out << FormatCount(forecast.trained_steps()) << " are trained already, " << FormatCount(forecast.remaining_steps())
        << " remain\n";
    if (forecast.reused_steps() > 0) {
      out << "                     " << FormatCount(forecast.reused_steps())
          << " of those by other code, whose states are reused\n";
    }
  } else {
    out << "not known how many are trained: no server that offers the trainer is connected\n";
  }
  out << "slot-seconds         " << (forecast.has_slot_seconds() ? FormatNumber(forecast.slot_seconds()) : kNotMeasured)
      << '\n';
  out << "at the least         "
      << (forecast.has_critical_path_seconds()
              ? FormatDuration(forecast.critical_path_seconds()) + ", however many slots there are"
              : kNotMeasured)
      << '\n';
  out << "checkpoints          "
      << (forecast.has_checkpoint_bytes() ? FormatBytes(forecast.checkpoint_bytes()) + " at most"
                                          : "not known: no checkpoint of such a training is stored yet")
      << '\n';
}

void PrintKeptStudies(std::ostream& out, const v1::ForecastResponse& forecast) {
  for (const v1::StudyForecast& study : forecast.studies()) {
    if (!study.is_kept_to_itself()) continue;
    out << '\n'
        << study.name()
        << ": sharing stops at the study, whatever `share` says: its trainer does not name its data, by files\n"
        << "or by a version (a program that can only be started must write safetensors, too)\n";
  }
}

// Of studies whose trials follow from results.
void PrintDrawnStudies(std::ostream& out, const std::vector<std::string>& drawn) {
  for (const std::string& name : drawn) {
    out << '\n' << name << ": what its tuner tries follows from results; counted are as many trials, drawn at random\n";
  }
}

void PrintNearMisses(std::ostream& out, const v1::ForecastResponse& forecast) {
  if (forecast.near_miss_count() == 0) return;
  out << "\nnear misses: meant to be one sequence? They are trained apart\n";
  for (const v1::NearMiss& pair : forecast.near_misses()) {
    out << "  " << pair.hyper_parameter() << ": " << pair.first() << " and " << pair.second() << ": " << HintOf(pair)
        << '\n';
  }
  const std::int64_t more = forecast.near_miss_count() - forecast.near_misses_size();
  if (more > 0) out << "  and " << FormatCount(more) << " more\n";
}

void PrintEarlyPartings(std::ostream& out, const v1::ForecastResponse& forecast) {
  if (forecast.trials() > 1 && forecast.unique_steps() == forecast.total_steps()) {
    out << "\nsharing saves nothing: no two trials begin alike\n";
  }
  if (forecast.early_parting_count() == 0) return;
  out << "\nwhat would share if it were written another way\n";
  for (const v1::EarlyParting& parting : forecast.early_partings()) {
    out << "  " << parting.hyper_parameter() << ": ";
    for (int i = 0; i < parting.sequences_size(); ++i) out << (i == 0 ? "" : ", ") << parting.sequences(i);
    const std::int64_t more = parting.sequence_count() - parting.sequences_size();
    if (more > 0) out << " and " << FormatCount(more) << " more";
    out << ' ' << parting.hint() << '\n';
  }
  const std::int64_t more = forecast.early_parting_count() - forecast.early_partings_size();
  if (more > 0) out << "  and " << FormatCount(more) << " more\n";
}

void PrintForecast(std::ostream& out, const v1::ForecastResponse& forecast, const std::vector<std::string>& drawn) {
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
  PrintKeptStudies(out, forecast);
  PrintDrawnStudies(out, drawn);
  PrintCosts(out, forecast);
  PrintNearMisses(out, forecast);
  PrintEarlyPartings(out, forecast);
}

void AddStudy(v1::ForecastRequest& request, const StudyFile& file, const tuners::Tuner& tuner) {
  v1::ForecastStudy& study = *request.add_studies();
  *study.mutable_study() = ToWire(file.specification);
  for (const tuners::StartTrial& trial : tuner.WholeTrials()) *study.add_trials() = ToWire(trial);
}

Json InJson(const v1::ForecastResponse& forecast, const std::vector<std::string>& drawn) {
  Json json = ToJson(forecast);
  Json names = Json::Array();
  for (const std::string& name : drawn) names.Append(name);
  json.Add("drawn_at_random", std::move(names));
  return json;
}

struct Options {
  std::vector<std::string> paths;
  ReuseOptions reuse;
};

int Run(CommandContext& context, const Options& options) {
  std::vector<StudyFile> files;
  for (const std::string& path : options.paths) {
    tl::expected<StudyFile, FileError> file = ReadStudyFile(path);
    if (!file.has_value()) return FailFile(context, file.error());
    files.push_back(std::move(*file));
  }
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  v1::ForecastRequest request;
  std::vector<std::string> drawn;  // studies whose trials are not known yet
  for (StudyFile& file : files) {
    const Result<void> reused = TakeReuse(client->connection(), options.reuse, file);
    if (!reused.has_value()) return Fail(context, reused.error());
    const Result<std::vector<v1::TrainerDescription>> trainers = TrainersFor(context, client->connection(), file);
    if (!trainers.has_value()) return FailTrainer(context, file, trainers.error());
    const tl::expected<void, FileError> checked = CheckForForecast(file, *trainers);
    if (!checked.has_value()) return FailFile(context, checked.error());
    const std::unique_ptr<tuners::Tuner> tuner = MakeTunerOf(file);
    AddStudy(request, file, *tuner);
    if (!tuner->KnowsItsTrials()) drawn.push_back(file.specification.name);
  }
  const Result<v1::ForecastResponse> forecast = client->connection().Forecast(request);
  if (!forecast.has_value()) return Fail(context, forecast.error());
  if (context.output == OutputFormat::kJson) {
    PrintJson(context.out, InJson(*forecast, drawn));
  } else {
    PrintForecast(context.out, *forecast, drawn);
  }
  return kExitDone;
}

}  // namespace

Command StudyForecastCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{
      .name = "forecast",
      .help = "What study files would cost, before they run: steps, merge rate, time, disk. Nothing is stored.",
      .arguments = {{"FILE", &options->paths, "the study files (YAML)"}}};
  AddReuseOptions(command, options->reuse);
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
