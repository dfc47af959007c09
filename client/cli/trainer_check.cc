// espalier trainer check TRAINER
#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>

#include "base/scratch_folder.h"
#include "client/cli/commands.h"
#include "client/cli/trainer_check_report.h"
#include "client/cli/up/stop_signals.h"
#include "client/cli/up/up.h"
#include "client/study_file/study_file.h"
#include "client/study_file/study_values.h"
#include "worker/check/check.h"

namespace espalier {
namespace {

using trainer_check::Sequences;
using trainer_check::Subject;
using trainer_check::Workers;

struct Options {
  std::string trainer;
  std::string python = "python3";
  std::optional<std::string> program;
  std::string data;
  std::string study;
  std::string step;
  std::vector<std::string> settings;
  std::int64_t steps = 6;
};

// What the command line asks for.
struct Wish {
  std::string trainer;       // by name; empty: the only one that the worker has
  std::string data;          // empty: the only one
  std::string folder = ".";  // of a command
  StepMeaning step{.updates = 1};
  std::map<std::string, Expression> sequences;
};

bool IsStudyFile(const std::string& trainer) { return trainer.ends_with(".yaml") || trainer.ends_with(".yml"); }

YamlNode Scalar(const std::string& text) {
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.text = text;
  return node;
}

// The first of a study's trials, its data and its step.
Result<Wish> WishOf(const std::string& path) {
  const auto file = ReadStudyFile(path);
  if (!file.has_value()) return MakeError(ErrorCode::kInvalidArgument, Print(file.error()));
  Wish wish{.trainer = file->specification.trainer, .data = file->specification.data, .step = file->specification.step};
  if (file->code) {
    const Entry& entry = file->code->entry;
    if (entry.kind != EntryKind::kBuiltIn) wish.trainer = Print(entry);
    wish.folder = file->code->folder;
  }
  for (const auto& [name, text] : file->candidates.front().sequences) {
    ESPALIER_ASSIGN(wish.sequences[name], ParseExpression(text));
  }
  return wish;
}

Result<Wish> ReadWish(const Options& options) {
  Wish wish;
  const std::string study = IsStudyFile(options.trainer) ? options.trainer : options.study;
  if (!study.empty()) {
    ESPALIER_ASSIGN(wish, WishOf(study));
  }
  if (!IsStudyFile(options.trainer)) wish.trainer = options.trainer;
  if (!options.data.empty()) wish.data = options.data;
  if (!options.step.empty()) {
    ESPALIER_ASSIGN(wish.step, ToStepMeaning(Scalar(options.step), "--step"));
  }
  for (const std::string& text : options.settings) {
    ESPALIER_ASSIGN(Setting setting, ParseSetting(text, "--set"));
    wish.sequences.insert_or_assign(setting.name, std::move(setting.expression));
  }
  return wish;
}

// The service's own worker, with a library, a module, or data of the user's.
Result<std::vector<std::string>> OwnWorkerCommand(const Entry& entry, Wish& wish) {
  ESPALIER_ASSIGN(const ServicePrograms programs, ProgramsBesideThisOne());
  std::vector<std::string> command{programs.worker};
  if (!entry.file.empty()) {
    command.insert(command.end(), {"--trainer", std::filesystem::absolute(entry.file).string()});
  }
  wish.trainer = entry.name;
  if (wish.data.find('/') != std::string::npos) {
    wish.data = std::filesystem::absolute(wish.data).lexically_normal().string();
    command.insert(command.end(), {"--data", wish.data});
  }
  return command;
}

// The worker's command; takes the trainer's name out of the wish where the command has only one.
Result<std::vector<std::string>> CommandFor(const Options& options, Wish& wish) {
  if (options.program.has_value()) return ShellCommand(*options.program);
  const Entry built_in{.kind = EntryKind::kBuiltIn, .file = {}, .name = wish.trainer};
  const Entry entry = NamedEntry(wish.trainer).value_or(built_in);
  if (IsOfOwnWorker(entry.kind)) return OwnWorkerCommand(entry, wish);
  wish.trainer.clear();
  if (entry.kind == EntryKind::kCommand) return ShellCommand(entry.name, wish.folder);
  if (entry.kind == EntryKind::kScript) return ScriptCommand(entry, options.python);
  ESPALIER_ASSIGN(std::vector<std::string> command, PythonCommand(entry, options.python));
  command.push_back("--watch");
  return command;
}

Result<Offer> Choose(const worker::Description& description, const Wish& wish) {
  std::vector<Offer> chosen;
  std::string all;
  for (const Offer& offer : description.offers) {
    const bool named = wish.trainer.empty() || offer.trainer == wish.trainer;
    if (named && (wish.data.empty() || offer.data == wish.data)) chosen.push_back(offer);
    all += (all.empty() ? "" : ", ") + offer.trainer + (offer.data.empty() ? "" : " on " + offer.data);
  }
  if (chosen.size() == 1) return chosen.front();
  return Wrong(chosen.empty() ? "TRAINER" : "--data",
               std::string(chosen.empty() ? "the worker has none of this name" : "which one?") + " It has: " + all);
}

Result<Sequences> CompileAll(const std::map<std::string, Expression>& expressions, const Schema& schema, Step end) {
  Sequences sequences;
  for (const auto& [name, expression] : expressions) {
    const HyperParameter* declared = schema.Find(name);
    if (declared == nullptr) return Wrong("--set " + name, "the trainer has no such hyper-parameter");
    Result<Sequence> sequence = CompileFor(*declared, expression, end);
    if (!sequence.has_value()) return Wrong("--set " + name, sequence.error().message);
    sequences.emplace(name, *std::move(sequence));
  }
  return sequences;
}

// No server is asked: what is unavailable is a worker.
int FailUsage(CommandContext& context, Error error) {
  if (error.code == ErrorCode::kUnavailable) error.code = ErrorCode::kFailedPrecondition;
  const int code = Fail(context, error);
  return error.code == ErrorCode::kInvalidArgument ? static_cast<int>(kExitUsage) : code;
}

Result<Subject> SubjectOf(const worker::Description& description, const Wish& wish, Step end) {
  ESPALIER_ASSIGN(Offer offer, Choose(description, wish));
  ESPALIER_ASSIGN(Sequences given, CompileAll(wish.sequences, offer.schema, end));
  return Subject{.offer = std::move(offer), .given = std::move(given), .step = wish.step, .end = end};
}

Result<int> Check(CommandContext& context, const Options& options) {
  ESPALIER_ASSIGN(Wish wish, ReadWish(options));
  ESPALIER_ASSIGN(std::vector<std::string> command, CommandFor(options, wish));
  ESPALIER_ASSIGN(const ScratchFolder folder, ScratchFolder::Create());
  ESPALIER_ASSIGN(StopSignals signals, StopSignals::Create());
  Workers workers(std::move(command), folder.path(),
                  {.fd = signals.Descriptor(), .is_asked = [&] { return signals.Wait(Seconds{0}) > 0; }});
  ESPALIER_ASSIGN(const worker::Description description, workers.Describe());
  ESPALIER_ASSIGN(const Subject subject, SubjectOf(description, wish, Step{options.steps}));
  const auto say = [&](const std::string& line) { context.err << "espalier: " << line << std::endl; };
  ESPALIER_ASSIGN(const trainer_check::Report report, trainer_check::Check(workers, folder.path(), subject, say));
  if (context.output == OutputFormat::kJson) {
    PrintJson(context.out, CheckJson(subject, report));
  } else {
    PrintCheck(context.out, subject, report);
  }
  return report.finding.has_value() ? kExitRefused : kExitDone;
}

int Run(CommandContext& context, const Options& options) {
  const Result<int> code = Check(context, options);
  return code.has_value() ? *code : FailUsage(context, code.error());
}

}  // namespace

Command TrainerCheckCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{
      .name = "check",
      .help = "Whether a trainer can be cut at any step and go on with the same bits. Needs no server.",
      .arguments =
          {{"TRAINER", &options->trainer,
            "a built-in one's name, FILE.py:NAME, script:FILE, library:FILE.so, torchscript:FILE.pt, one that --worker "
            "has, or a study file"}},
      .options = {{.name = "--python",
                   .target = &options->python,
                   .help = "the interpreter that has the trainer's packages (else python3)",
                   .placeholder = "PROGRAM"},
                  {.name = "--worker",
                   .target = &options->program,
                   .help = "the program that trains, which speaks the trainer protocol",
                   .placeholder = "COMMAND"},
                  {.name = "--data",
                   .target = &options->data,
                   .help = "the data set, where the trainer has several, or a folder"},
                  {.name = "--study",
                   .target = &options->study,
                   .help = "take data, step, and the values of its first trial from this study file",
                   .placeholder = "FILE"},
                  {.name = "--step",
                   .target = &options->step,
                   .help = "what a step is: \"epoch\" or \"N updates\" (else 1 update)",
                   .placeholder = "MEANING"},
                  {.name = "--steps",
                   .target = &options->steps,
                   .help = "how many steps each pass trains (else 6)",
                   .placeholder = "N",
                   .at_least = 4,
                   .at_most = 1000},
                  {.name = "--set",
                   .target = &options->settings,
                   .help = "NAME=VALUE: a hyper-parameter's value or sequence, else its default",
                   .one_value_each = true}}};
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
