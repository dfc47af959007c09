#include "worker/script/training.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "worker/protocol/json_fields.h"

namespace espalier::script {
namespace {

namespace fs = std::filesystem;
using worker::Json;

constexpr char kLoss[] = "loss";

tl::unexpected<Error> WrongRequest(std::string message, std::string field = {}) {
  return MakeError(ErrorCode::kInvalidArgument, std::move(message), std::move(field));
}

tl::unexpected<Error> AtFault(std::string message) { return MakeError(ErrorCode::kInternal, std::move(message)); }

std::string Print(Step step) { return std::to_string(step.value); }

Json Plain(const Value& value) {
  return std::visit([](const auto& plain) { return Json(plain); }, value);
}

Json Plain(const worker::Values& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = Plain(value);
  return json;
}

// On a line of its own.
bool IsEvaluationOf(const ProgramLine& line, Step step) {
  return line.step == step && line.evaluation.has_value() && !line.metrics.contains(kLoss);
}

bool IsFinite(const Metrics& metrics) {
  return std::ranges::all_of(metrics, [](const auto& item) { return std::isfinite(item.second); });
}

std::string NamesOf(const Metrics& metrics) {
  std::string names;
  for (const auto& [name, value] : metrics) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "nothing" : names;
}

}  // namespace

Result<Training> Training::Begin(const Program& program, const worker::Init& init) {
  if (init.trainer != program.offer.trainer || !init.data.empty()) {
    return WrongRequest("there is no trainer " + init.trainer + " for the data '" + init.data + "' here, only " +
                        program.offer.trainer);
  }
  for (const HyperParameter& each : program.declaration.schema.hyper_parameters) {
    if (!init.values.contains(each.name)) return WrongRequest("the value is missing", each.name);
  }
  return Training(program, init);
}

Training::Training(const Program& program, const worker::Init& init)
    : program_(&program), meaning_(init.step), at_init_(init.values) {
  worker::Values initial;
  for (const HyperParameter& each : program.declaration.schema.hyper_parameters) {
    if (each.initial) initial[each.name] = at_init_.at(each.name);
  }
  origin_ = Json{{"trainer", program.offer.trainer},
                 {"code", program.offer.code_digest},
                 {"data", program.offer.data_digest},
                 {"updates", meaning_.updates},
                 {"initial", Plain(initial)}}
                .dump();
}

Result<void> Training::Setup(const worker::Values& values) {
  for (const auto& [name, value] : values) {
    const HyperParameter* declared = program_->declaration.schema.Find(name);
    if (declared == nullptr || declared->initial) return WrongRequest("is no sequence of this trainer", name);
    ESPALIER_ASSIGN(in_force_[name], Convert(value, declared->type));
  }
  return {};
}

// The file of values: of each sequence one for each step, and all values at step 0.
Result<std::unique_ptr<ProgramRun>> Training::Start(Step to, const std::vector<worker::ValuesAtStep>& ahead,
                                                    const fs::path& folder, bool saves) {
  worker::Values values = in_force_;
  Json lists = Json::object();
  for (const auto& [name, value] : values) lists[name] = Json::array();
  auto change = ahead.begin();
  for (Step step = step_; step < to; step = step + 1) {
    for (; change != ahead.end() && change->step <= step; ++change) {
      for (const auto& [name, value] : change->values) values[name] = value;
    }
    for (const auto& [name, value] : values) lists[name].push_back(Plain(value));
  }
  Json text{{"initial", Plain(at_init_)}, {"values", std::move(lists)}, {"updates", nullptr}};
  if (meaning_.updates > 0) text["updates"] = meaning_.updates;
  const fs::path file = folder / "values.json";
  std::ofstream stream(file, std::ios::trunc);
  stream << text.dump() << "\n";
  if (!stream.flush()) return AtFault("cannot write " + file.string());

  ESPALIER_ASSIGN(std::vector<std::string> command, CommandOf(program_->place));
  command.insert(command.end(), {"--from", Print(step_), "--to", Print(to), "--values", file.string()});
  if (state_ != nullptr) command.insert(command.end(), {"--load", state_->path().string()});
  if (saves) command.insert(command.end(), {"--save", (folder / "state").string()});
  return ProgramRun::Start(command, program_->place.file.parent_path(), program_->place.mark);
}

Result<worker::Trained> Training::Train(const worker::Train& train, const Hear& hear) {
  if (train.step != step_ + 1)
    return WrongRequest("train to step " + Print(train.step) + " came at step " + Print(step_));
  ESPALIER_RETURN_IF_ERROR(CheckGoing());
  const Seconds begin = MonotonicNow();
  if (!stretch_.has_value()) {
    ESPALIER_RETURN_IF_ERROR(BeginStretch(train));
  }
  ESPALIER_ASSIGN(ProgramLine line, NextStep(train.step, hear));
  step_ = train.step;
  evaluation_ = line.evaluation;
  const Result<bool> goes_on = Passed(line.is_saved, std::max(train.until, train.step), hear);
  if (!goes_on.has_value()) {
    stretch_.reset();
    is_over_ = !IsFinite(line.metrics);  // which is a result, whatever the program has done then
    if (!is_over_) return tl::unexpected<Error>(goes_on.error());
  }
  return worker::Trained{
      .metrics = std::move(line.metrics), .time = MonotonicNow() - begin, .goes_on = goes_on.value_or(false)};
}

Result<void> Training::CheckGoing() const {
  if (is_over_) return WrongRequest("the training has diverged, and its program has ended");
  return {};
}

Result<void> Training::BeginStretch(const worker::Train& train) {
  const Step to = std::max(train.until, train.step);
  auto folder = std::make_unique<ScratchFolder>(NewName());
  ESPALIER_ASSIGN(auto run, Start(to, train.ahead, folder->path(), /*saves=*/true));
  stretch_ = Stretch{.folder = std::move(folder), .run = std::move(run), .to = to};
  return {};
}

// The next line that is not for people; nothing at the end.
Result<std::optional<ProgramLine>> Training::NextLine(ProgramRun& run, const Hear& hear) const {
  while (const std::optional<std::string> text = run.NextLine(hear)) {
    Result<std::optional<ProgramLine>> line = ReadProgramLine(*text);
    if (!line.has_value()) {
      return AtFault(Named("said " + *text + ": " + line.error().field + ": " + line.error().message));
    }
    if (line->has_value()) return line;
    run.Log(*text);
  }
  return std::nullopt;
}

// What the program says of the step that it is at.
Result<ProgramLine> Training::NextStep(Step step, const Hear& hear) {
  std::optional<ProgramLine> line;
  do {
    ESPALIER_ASSIGN(line, NextLine(*stretch_->run, hear));
  } while (line.has_value() && IsEvaluationOf(*line, step_));  // it does not stand there
  if (!line.has_value()) {
    return Ended(*stretch_->run, "said nothing of step " + Print(step) + ", and was to train to step " +
                                     Print(stretch_->to) + ": each step has a line such as {\"step\": " + Print(step) +
                                     ", \"loss\": 0.5, \"samples\": 640}");
  }
  if (line->step != step) {
    return AtFault(Named("spoke of step " + Print(line->step) + ", and its next step is " + Print(step) +
                         ": each step has one line, in their order"));
  }
  if (line->metrics.contains(kLoss)) return *std::move(line);
  return AtFault(Named("said of step " + Print(step) + " no number \"loss\""));
}

// Whether the program goes on by itself.
Result<bool> Training::Passed(bool is_saved, Step until, const Hear& hear) {
  if (step_ == stretch_->to) {
    ESPALIER_RETURN_IF_ERROR(Finish(hear));
    return false;
  }
  if (!is_saved) return true;
  const fs::path file = stretch_->folder->path() / ("state." + Print(step_));
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return AtFault(Named("said that it saved step " + Print(step_) + ", and there is no file " + file.string() +
                         ": on the way to --to it is FILE.STEP, with the FILE of --save"));
  }
  if (until >= stretch_->to) {
    NoteSave(step_);
    return true;
  }
  stretch_->run.reset();
  ESPALIER_RETURN_IF_ERROR(Take(file));
  return false;
}

// One that comes later takes its place.
void Training::NoteSave(Step step) {
  std::error_code ignored;
  if (const auto before = std::exchange(stretch_->saved_at, step)) {
    fs::remove(stretch_->folder->path() / ("state." + Print(*before)), ignored);
  }
}

Result<void> Training::Finish(const Hear& hear) {
  for (;;) {
    ESPALIER_ASSIGN(std::optional<ProgramLine> line, NextLine(*stretch_->run, hear));
    if (!line.has_value()) break;
    if (!IsEvaluationOf(*line, step_)) {
      return AtFault(Named("spoke of step " + Print(line->step) + ", behind the last, --to " + Print(step_)));
    }
    evaluation_ = std::move(line->evaluation);
  }
  if (!stretch_->run->succeeded()) return Ended(*stretch_->run, "");
  return Take(stretch_->folder->path() / "state");
}

// The state lies in the file, and the stretch is over.
Result<void> Training::Take(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return AtFault(Named("wrote no file " + file.string() + ", as --save says"));
  const Result<void> checked = CheckProgramFile(file, program_->declaration.writes_safetensors);
  if (!checked.has_value()) return AtFault(Named("saved what cannot be taken: " + checked.error().message));
  const fs::path taken = NewName();
  fs::rename(file, taken, error);
  if (error) return AtFault("cannot keep " + file.string() + ": " + error.message());
  state_ = std::make_shared<StateFile>(taken);
  stretch_.reset();
  return {};
}

Result<worker::Evaluated> Training::Evaluate(const Hear& hear) {
  if (stretch_.has_value()) return WrongRequest("evaluate came in the midst of a stretch");
  ESPALIER_RETURN_IF_ERROR(CheckGoing());
  const Seconds begin = MonotonicNow();
  if (!evaluation_.has_value()) {
    ESPALIER_ASSIGN(evaluation_, Measure(hear));
  }
  for (const std::string& name : program_->declaration.metrics) {
    if (evaluation_->contains(name)) continue;
    return AtFault(
        Named("measured no " + name + ", which it declares as a metric; it measured " + NamesOf(*evaluation_)));
  }
  return worker::Evaluated{*evaluation_, MonotonicNow() - begin};
}

// By a run of its own.
Result<Metrics> Training::Measure(const Hear& hear) {
  const ScratchFolder folder(NewName());
  ESPALIER_ASSIGN(const auto run, Start(step_, {}, folder.path(), /*saves=*/false));
  std::optional<Metrics> measured;
  for (;;) {
    ESPALIER_ASSIGN(std::optional<ProgramLine> line, NextLine(*run, hear));
    if (!line.has_value()) break;
    if (line->step == step_ && line->evaluation.has_value()) measured = std::move(line->evaluation);
  }
  if (run->succeeded() && measured.has_value()) return *std::move(measured);
  return Ended(*run, "measured nothing: with --to as --from, " + Print(step_) +
                         ", it is to print a line such as {\"step\": " + Print(step_) +
                         ", \"evaluate\": {\"accuracy\": 0.9}}");
}

Result<std::shared_ptr<const StateFile>> Training::State(Step step) const {
  if (stretch_.has_value() || is_over_ || state_ == nullptr || step != step_) {
    return WrongRequest("the state of step " + Print(step) + " is asked for, and the training does not stand there");
  }
  return state_;
}

Result<void> Training::Load(const fs::path& path, bool of_other_code) {
  stretch_.reset();
  evaluation_.reset();
  is_over_ = false;
  auto state = std::make_shared<StateFile>(NewName());
  ESPALIER_ASSIGN(step_, ReadState(path, state->path(), of_other_code ? std::nullopt : std::optional(origin_)));
  state_ = std::move(state);
  return {};
}

// The program has ended before it should.
tl::unexpected<Error> Training::Ended(const ProgramRun& run, const std::string& otherwise) {
  killed_by_ = run.signal();
  if (run.succeeded()) return AtFault(Named(otherwise));
  return AtFault(Named(run.End()));
}

fs::path Training::NewName() const { return program_->scratch / std::to_string(++program_->last_name); }

std::string Training::Named(const std::string& what) const {
  return program_->place.file.filename().string() + " " + what;
}

}  // namespace espalier::script
