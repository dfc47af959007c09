#include "client/study_file/study_file.h"

#include <algorithm>

#include "base/check.h"
#include "base/text_file.h"
#include "client/study_file/space_section.h"
#include "client/study_file/study_values.h"
#include "client/study_file/trainer_section.h"
#include "client/study_file/yaml_tree.h"
#include "client/tuners/registry.h"

namespace espalier {
namespace {

using Kind = YamlNode::Kind;

// Fills `lines` with every field of the tree. Error: a key that is written twice.
Result<void> CollectLines(const YamlNode& node, const std::string& field, std::map<std::string, int>& lines) {
  for (const YamlEntry& entry : node.entries) {
    const std::string path = field.empty() ? entry.key : field + "." + entry.key;
    const auto [it, inserted] = lines.emplace(path, entry.line);
    if (!inserted) {
      const int first = std::exchange(it->second, entry.line);
      return Wrong(path, "is written twice (first in line " + std::to_string(first) + "); expected one value");
    }
    ESPALIER_RETURN_IF_ERROR(CollectLines(entry.value, path, lines));
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::string path = field + "[" + std::to_string(i) + "]";
    lines.emplace(path, node.items[i].line);
    ESPALIER_RETURN_IF_ERROR(CollectLines(node.items[i], path, lines));
  }
  return {};
}

// The line of a field, or of the nearest one around it that is in the file.
int LineOf(const std::map<std::string, int>& lines, std::string field) {
  while (!field.empty()) {
    if (const auto it = lines.find(field); it != lines.end()) return it->second;
    const std::size_t cut = field.find_last_of(".[");
    field.erase(cut == std::string::npos ? 0 : cut);
  }
  return 1;
}

tuners::Trials TrialsOf(const StudyFile& file) {
  return {.candidates = file.candidates, .from_space = file.from_space, .space = file.space, .sampling = file.sampling};
}

class Reader {
 public:
  Reader(const YamlNode& root, StudyFile& file, bool written_here)
      : root_(root), file_(file), written_here_(written_here) {}

  Result<void> Read() {
    ESPALIER_RETURN_IF_ERROR(ExpectMapping(
        root_, "",
        {"study",  "trainer", "python",     "environment",   "data",     "step",    "evaluate", "hyper_parameters",
         "trials", "only_if", "metric",     "tuner",         "keep",     "share",   "check",    "hang_after",
         "stop",   "policy",  "reuse_from", "tuner_version", "deadline", "priority"}));
    ESPALIER_RETURN_IF_ERROR(ReadLabels());
    if (written_here_) {
      ESPALIER_ASSIGN(file_.code, ReadTrainerCode(root_, file_.path));
      if (file_.code && !file_.code->data.empty()) file_.specification.data = file_.code->data;
    }
    ESPALIER_RETURN_IF_ERROR(ReadStep());
    ESPALIER_RETURN_IF_ERROR(ReadMetric());
    ESPALIER_RETURN_IF_ERROR(ReadShare());
    ESPALIER_RETURN_IF_ERROR(ReadKeep());
    ESPALIER_RETURN_IF_ERROR(ReadCheck());
    ESPALIER_RETURN_IF_ERROR(ReadStop());
    ESPALIER_RETURN_IF_ERROR(ReadPolicy());
    ESPALIER_RETURN_IF_ERROR(ReadDeadline());
    ESPALIER_RETURN_IF_ERROR(ReadReuse());
    ESPALIER_RETURN_IF_ERROR(ReadTuner());
    ESPALIER_RETURN_IF_ERROR(ReadSpace(root_, file_));
    ESPALIER_RETURN_IF_ERROR(SetHorizons());
    for (const WrittenValue& value : file_.written) {
      if (const Result<Sequence> sequence = CompileGuessed(value.expression, value.horizon); !sequence.has_value()) {
        return Wrong(value.field, sequence.error().message);
      }
    }
    return {};
  }

 private:
  Result<void> ReadLabels() {
    StudySpecification& study = file_.specification;
    ESPALIER_ASSIGN(study.name, Text(root_, "study", "the study's name"));
    if (study.name.size() > 200) return Wrong("study", "is too long; expected a name of at most 200 bytes");
    ESPALIER_ASSIGN(study.trainer, Text(root_, "trainer", "a trainer's name, such as mlp"));
    if (root_.Find("data") != nullptr) {
      ESPALIER_ASSIGN(study.data, Text(root_, "data", "a data set's name, such as digits"));
    }
    return {};
  }

  Result<void> ReadStep() {
    if (const YamlNode* step = root_.Find("step"); step != nullptr) {
      ESPALIER_ASSIGN(file_.specification.step, ToStepMeaning(*step, "step"));
    }
    if (const YamlNode* evaluate = root_.Find("evaluate"); evaluate != nullptr) {
      ESPALIER_RETURN_IF_ERROR(ExpectMapping(*evaluate, "evaluate", {"every"}));
      const YamlNode* every = evaluate->Find("every");
      if (every == nullptr) return Wrong("evaluate.every", "is missing; expected a whole number of steps");
      ESPALIER_ASSIGN(file_.specification.evaluate_every_steps, WholeNumber(*every, "evaluate.every", 1));
    }
    if (const YamlNode* hang_after = root_.Find("hang_after"); hang_after != nullptr) {
      ESPALIER_ASSIGN(file_.specification.hang_after, ToDuration(*hang_after, "hang_after"));
    }
    return {};
  }

  Result<void> ReadMetric() {
    const YamlNode* metric = root_.Find("metric");
    if (metric == nullptr) return Wrong("metric", "is missing; expected {name: NAME, goal: max|min}");
    ESPALIER_RETURN_IF_ERROR(ExpectMapping(*metric, "metric", {"name", "goal"}));
    Result<std::string> name = Text(*metric, "name", "a metric's name, such as test_acc");
    if (!name.has_value()) return InField("metric", name.error());
    file_.specification.metric = *name;
    Result<std::string> goal = Text(*metric, "goal", "max or min");
    if (!goal.has_value()) return InField("metric", goal.error());
    const Result<Goal> known = ParseGoal(*goal);
    if (!known.has_value()) return Wrong("metric.goal", "got " + *goal + "; expected max or min");
    file_.specification.goal = *known;
    return {};
  }

  Result<void> ReadShare() {
    if (root_.Find("share") == nullptr) return {};
    const std::string expected = "nobody, study, team or everyone";
    ESPALIER_ASSIGN(const std::string share, Text(root_, "share", expected));
    const Result<Scope> scope = ParseScope(share);
    if (!scope.has_value()) return Wrong("share", "got " + share + "; expected " + expected);
    file_.specification.scope = *scope;
    return {};
  }

  Result<void> ReadKeep() {
    if (root_.Find("keep") == nullptr) return {};
    const std::string expected = "best, all, claimed or none";
    ESPALIER_ASSIGN(const std::string keep, Text(root_, "keep", expected));
    const Result<Keep> known = ParseKeep(keep);
    if (!known.has_value()) return Wrong("keep", "got " + keep + "; expected " + expected);
    file_.specification.keep = *known;
    return {};
  }

  Result<void> ReadCheck() {
    if (root_.Find("check") == nullptr) return {};
    const std::string expected = "beside, first or off";
    ESPALIER_ASSIGN(const std::string check, Text(root_, "check", expected));
    const Result<CheckWhen> known = ParseCheckWhen(check);
    if (!known.has_value()) return Wrong("check", "got " + check + "; expected " + expected);
    file_.specification.check = *known;
    return {};
  }

  Result<void> ReadStop() {
    const YamlNode* stop = root_.Find("stop");
    if (stop == nullptr) return {};
    ESPALIER_RETURN_IF_ERROR(ExpectMapping(*stop, "stop", {"after", "device_hours", "metric"}));
    StopRule& rule = file_.specification.stop;
    if (const YamlNode* after = stop->Find("after"); after != nullptr) {
      ESPALIER_ASSIGN(rule.after, ToDuration(*after, "stop.after"));
    }
    if (const YamlNode* hours = stop->Find("device_hours"); hours != nullptr) {
      ESPALIER_ASSIGN(rule.device_time, ToHours(*hours, "stop.device_hours"));
    }
    if (const YamlNode* metric = stop->Find("metric"); metric != nullptr) {
      ESPALIER_ASSIGN(rule.metric, ToNumber(*metric, "stop.metric"));
    }
    if (rule == StopRule{}) return Wrong("stop", "is empty; expected after, device_hours or metric");
    return {};
  }

  Result<void> ReadPolicy() {
    const YamlNode* policy = root_.Find("policy");
    if (policy == nullptr) return {};
    ESPALIER_RETURN_IF_ERROR(ExpectMapping(*policy, "policy", {"may_stop", "min", "speeds"}));
    if (policy->entries.empty()) return Wrong("policy", "is empty; expected may_stop, min or speeds");
    PolicyChoices& choices = file_.specification.policy;
    if (const YamlNode* may_stop = policy->Find("may_stop"); may_stop != nullptr) {
      ESPALIER_ASSIGN(const Value value, ToOption(*may_stop, "policy.may_stop"));
      const bool* said = std::get_if<bool>(&value);
      if (said == nullptr) return Wrong("policy.may_stop", "got " + Describe(*may_stop) + "; expected true or false");
      choices.may_stop = *said;
    }
    if (const YamlNode* min = policy->Find("min"); min != nullptr) {
      ESPALIER_ASSIGN(choices.min_steps, WholeNumber(*min, "policy.min", 1));
    }
    if (const YamlNode* speeds = policy->Find("speeds"); speeds != nullptr) return ReadSpeeds(*speeds);
    return {};
  }

  // Of slots of a device together, against one.
  Result<void> ReadSpeeds(const YamlNode& speeds) {
    if (speeds.kind != Kind::kMapping) {
      return Wrong("policy.speeds",
                   "got " + Describe(speeds) + "; expected speeds by numbers of slots, such as {2: 1.9, 4: 3.4}");
    }
    for (const YamlEntry& entry : speeds.entries) {
      const YamlNode key{.kind = Kind::kScalar, .line = entry.line, .text = entry.key, .items = {}, .entries = {}};
      const std::string field = "policy.speeds." + entry.key;
      ESPALIER_ASSIGN(const std::int64_t slots, WholeNumber(key, field, 2));
      ESPALIER_ASSIGN(file_.specification.policy.speeds[slots], ToNumber(entry.value, field));
    }
    return {};
  }

  Result<void> ReadDeadline() {
    if (const YamlNode* deadline = root_.Find("deadline"); deadline != nullptr) {
      ESPALIER_ASSIGN(file_.specification.policy.deadline, ToDuration(*deadline, "deadline"));
    }
    if (const YamlNode* priority = root_.Find("priority"); priority != nullptr) {
      ESPALIER_ASSIGN(file_.specification.priority, ToNumber(*priority, "priority"));
      if (!(file_.specification.priority > 0)) {
        return Wrong("priority", "got " + Describe(*priority) + "; expected a number above 0");
      }
    }
    return {};
  }

  Result<void> ReadReuse() {
    const YamlNode* node = root_.Find("reuse_from");
    if (node == nullptr) return {};
    Reuse reuse;
    if (node->kind != Kind::kMapping) {
      ESPALIER_ASSIGN(reuse.study.value, WholeNumber(*node, "reuse_from", 1));
    } else {
      ESPALIER_RETURN_IF_ERROR(ExpectMapping(*node, "reuse_from", {"study", "until"}));
      const YamlNode* study = node->Find("study");
      if (study == nullptr) return Wrong("reuse_from.study", "is missing; expected a study's id");
      ESPALIER_ASSIGN(reuse.study.value, WholeNumber(*study, "reuse_from.study", 1));
      if (const YamlNode* until = node->Find("until"); until != nullptr) {
        ESPALIER_ASSIGN(const std::int64_t step, WholeNumber(*until, "reuse_from.until", 1));
        reuse.until = Step{step};
      }
    }
    file_.specification.reuse = reuse;
    return {};
  }

  Result<void> ReadTuner() {
    const std::string expected =
        "expected one tuner with its options, such as {sha: {min: 15, max: 120, reduction: 4}}";
    const YamlNode* tuner = root_.Find("tuner");
    if (tuner == nullptr) return Wrong("tuner", "is missing; " + expected);
    if (tuner->kind == Kind::kScalar) {
      file_.tuner = tuner->text;
      return ReadTunerVersion();
    }
    if (tuner->kind != Kind::kMapping || tuner->entries.size() != 1) {
      return Wrong("tuner", "got " + Describe(*tuner) + "; " + expected);
    }
    file_.tuner = tuner->entries[0].key;
    const YamlNode& options = tuner->entries[0].value;
    const std::string field = "tuner." + file_.tuner;
    if (options.kind == Kind::kScalar || options.kind == Kind::kList) {
      return Wrong(field, "got " + Describe(options) + "; expected a mapping of its options");
    }
    for (const YamlEntry& option : options.entries) {
      ESPALIER_ASSIGN(file_.tuner_options[option.key], ReadOption(option.value, field + "." + option.key));
    }
    ESPALIER_ASSIGN(file_.sampling, TakeSampling(file_));
    return ReadTunerVersion();
  }

  // A plain value, or numbers by numbers.
  static Result<tuners::Option> ReadOption(const YamlNode& node, const std::string& field) {
    if (node.kind != Kind::kMapping) return ToOption(node, field);
    tuners::Counts counts;
    for (const YamlEntry& entry : node.entries) {
      const YamlNode key{.kind = Kind::kScalar, .line = entry.line, .text = entry.key, .items = {}, .entries = {}};
      ESPALIER_ASSIGN(const std::int64_t number, WholeNumber(key, field + "." + entry.key, 0));
      ESPALIER_ASSIGN(counts[number], WholeNumber(entry.value, field + "." + entry.key, 0));
    }
    return counts;
  }

  Result<void> ReadTunerVersion() {
    const YamlNode* node = root_.Find("tuner_version");
    if (node == nullptr) return {};
    ESPALIER_ASSIGN(const std::int64_t version, WholeNumber(*node, "tuner_version", 1));
    const std::int64_t here = tuners::VersionOf(file_.tuner);
    if (here == 0 || here == version) return {};  // an unknown tuner is refused as such
    return Wrong("tuner_version", "got " + std::to_string(version) + "; expected " + std::to_string(here) + ", which " +
                                      file_.tuner + " is here: another version may decide otherwise");
  }

  // How far each value has to hold: to the horizon of its trials.
  Result<void> SetHorizons() {
    const Result<std::unique_ptr<tuners::Tuner>> tuner =
        tuners::MakeTuner(file_.tuner, file_.tuner_options, TrialsOf(file_));
    if (!tuner.has_value()) {
      const std::string& field = tuner.error().field;
      const bool is_of_file = field.find_first_of(".[") != std::string::npos;
      const std::string own = field.empty() ? "tuner" : "tuner." + file_.tuner + "." + field;
      return Wrong(is_of_file ? field : own, tuner.error().message);
    }
    file_.specification.tuner = file_.tuner;
    file_.specification.asks_for_idle_slots = (*tuner)->AsksForIdleSlots();
    Step longest{1};
    Step grid_horizon{1};
    std::map<std::string, Step> of_trial;
    const std::vector<tuners::StartTrial> trials = (*tuner)->WholeTrials();
    for (std::size_t i = 0; i < trials.size(); ++i) {
      longest = std::max(longest, trials[i].horizon);
      if (i < file_.from_space) grid_horizon = std::max(grid_horizon, trials[i].horizon);
      if (i >= file_.from_space) of_trial["trials[" + std::to_string(i - file_.from_space) + "]"] = trials[i].horizon;
    }
    for (WrittenValue& value : file_.written) {
      if (const auto trial = of_trial.find(value.field.substr(0, value.field.find('.'))); trial != of_trial.end()) {
        value.horizon = trial->second;
      } else {
        value.horizon = file_.space.fixed.contains(value.name) ? longest : grid_horizon;
      }
    }
    return {};
  }

  const YamlNode& root_;
  StudyFile& file_;
  const bool written_here_;  // so that what it names is looked for on this machine
};

}  // namespace

std::string Print(const FileError& error) {
  return error.file + ":" + std::to_string(error.line) + ": " + (error.field.empty() ? "" : error.field + ": ") +
         error.message;
}

tl::expected<StudyFile, FileError> ReadStudyFile(const std::string& path) {
  const Result<std::string> text = ReadTextFile(path);
  if (!text.has_value()) {
    return tl::unexpected(FileError{path, 1, "file", text.error().message + "; expected a study file"});
  }
  return ParseStudyFile(path, *text);
}

namespace {

tl::expected<StudyFile, FileError> Parse(const std::string& path, const std::string& text, bool written_here) {
  const tl::expected<YamlNode, YamlError> root = ParseYaml(text);
  if (!root.has_value()) {
    return tl::unexpected(FileError{path, root.error().line, "file",
                                    "is not YAML: " + root.error().message + "; expected a study file in YAML"});
  }
  if (root->kind != Kind::kMapping) {
    return tl::unexpected(FileError{
        path, root->line, "file", "holds " + Describe(*root) + "; expected a mapping with study, trainer, tuner, ..."});
  }
  StudyFile file;
  file.path = path;
  Result<void> outcome = CollectLines(*root, "", file.lines);
  if (outcome.has_value()) outcome = Reader(*root, file, written_here).Read();
  if (!outcome.has_value()) return tl::unexpected(AtField(file, outcome.error()));
  file.specification.definition = DefinitionOf(file);
  return file;
}

}  // namespace

tl::expected<StudyFile, FileError> ParseStudyFile(const std::string& path, const std::string& text) {
  return Parse(path, text, true);
}

Result<StudyFile> ParseDefinition(const std::string& text) {
  tl::expected<StudyFile, FileError> file = Parse("definition", text, false);
  if (file.has_value()) return std::move(*file);
  return MakeError(ErrorCode::kInvalidArgument, file.error().message, file.error().field);
}

void SetCheck(StudyFile& file, CheckWhen when) {
  file.specification.check = when;
  file.specification.definition = DefinitionOf(file);
}

void SetReuse(StudyFile& file, const Reuse& reuse) {
  file.specification.reuse = reuse;
  file.specification.definition = DefinitionOf(file);
}

FileError AtField(const StudyFile& file, const Error& error) {
  return FileError{file.path, LineOf(file.lines, error.field), error.field, error.message};
}

std::unique_ptr<tuners::Tuner> MakeTunerOf(const StudyFile& file) {
  Result<std::unique_ptr<tuners::Tuner>> tuner = tuners::MakeTuner(file.tuner, file.tuner_options, TrialsOf(file));
  ESPALIER_CHECK(tuner.has_value()) << "the file was checked: " << tuner.error().message;
  return std::move(*tuner);
}

}  // namespace espalier
