#include "client/study_file/space_section.h"

#include <algorithm>
#include <set>

#include "client/space/drawing.h"
#include "client/space/ranges.h"
#include "client/study_file/study_values.h"
#include "client/tuners/registry.h"

namespace espalier {
namespace {

using NodeKind = YamlNode::Kind;

std::string ItemField(const std::string& field, std::size_t index) { return field + "[" + std::to_string(index) + "]"; }

bool MayGoOnUntilStopped(const StudyFile& file) {
  return file.specification.stop != StopRule{} && tuners::MayGoOnUntilStopped(file.tuner);
}

Sampling SamplingUntilStopped(const StudyFile& file) {
  return {.trials = kTrialsUntilStopped,
          .until_stopped = true,
          .method = tuners::SamplingOf(file.tuner).value_or(SamplingMethod::kRandom)};
}

tl::unexpected<Error> MissesTrials(const StudyFile& file, const std::string& why = "") {
  return Wrong("tuner." + file.tuner + ".trials",
               "is missing; expected how many trials to draw" + why +
                   (tuners::MayGoOnUntilStopped(file.tuner) ? "; or give stop, when the study ends" : ""));
}

class SpaceReader {
 public:
  SpaceReader(const YamlNode& root, StudyFile& file) : root_(root), file_(file) {}

  Result<void> Read() {
    ESPALIER_RETURN_IF_ERROR(ReadHyperParameters());
    ESPALIER_RETURN_IF_ERROR(ReadConditions());
    DrawUntilStopped();
    ESPALIER_RETURN_IF_ERROR(CheckSource());
    return ReadTrials();
  }

 private:
  Result<void> ReadHyperParameters() {
    const YamlNode* hyper_parameters = root_.Find("hyper_parameters");
    if (hyper_parameters == nullptr) return {};
    if (hyper_parameters->kind != NodeKind::kMapping) {
      return Wrong("hyper_parameters", "got " + Describe(*hyper_parameters) +
                                           "; expected a mapping of names to a value (fixed) or a list (tuned)");
    }
    for (const YamlEntry& entry : hyper_parameters->entries) {
      const std::string field = "hyper_parameters." + entry.key;
      std::vector<std::string> texts;
      if (entry.value.kind != NodeKind::kList) {
        ESPALIER_ASSIGN(texts.emplace_back(), ReadOfSpace(entry.key, entry.value, field));
        if (!first_range_.contains(entry.key)) {
          file_.space.fixed[entry.key] = std::move(texts.front());
          continue;
        }
      } else if (entry.value.items.empty()) {
        return Wrong(field, "got an empty list; expected at least one value");
      }
      for (std::size_t i = 0; i < entry.value.items.size(); ++i) {
        ESPALIER_ASSIGN(texts.emplace_back(), ReadOfSpace(entry.key, entry.value.items[i], ItemField(field, i)));
      }
      file_.space.lists.emplace_back(entry.key, std::move(texts));
    }
    return {};
  }

  // What has ranges is written once it is drawn.
  Result<std::string> ReadOfSpace(const std::string& name, const YamlNode& node, const std::string& field) {
    ESPALIER_ASSIGN(Expression expression, ToExpression(node, field));
    if (RangesOf(expression).empty()) return AddWritten(name, std::move(expression), field);
    if (const Result<void> checked = CheckRanges(expression); !checked.has_value()) {
      return Wrong(field, checked.error().message);
    }
    first_range_.emplace(name, field);
    return Print(expression);
  }

  std::string AddWritten(const std::string& name, Expression expression, const std::string& field) {
    std::string text = Print(expression);
    file_.written.push_back(WrittenValue{field, name, std::move(expression), text, Step{}});
    return text;
  }

  Result<void> ReadConditions() {
    const YamlNode* only_if = root_.Find("only_if");
    if (only_if == nullptr) return {};
    if (only_if->kind != NodeKind::kMapping) {
      return Wrong("only_if",
                   "got " + Describe(*only_if) +
                       "; expected a mapping of names to conditions, such as {momentum: \"optimizer == sgd\"}");
    }
    for (const YamlEntry& entry : only_if->entries) {
      const std::string field = "only_if." + entry.key;
      ESPALIER_RETURN_IF_ERROR(CheckIsOfSpace(entry.key, field));
      const Result<Condition> condition = ParseCondition(entry.key, entry.value.text);
      if (!condition.has_value()) return Wrong(field, condition.error().message);
      for (const Condition::Comparison& comparison : condition->comparisons) {
        ESPALIER_RETURN_IF_ERROR(CheckIsOfSpace(comparison.name, field));
        ESPALIER_RETURN_IF_ERROR(CheckMayHave(comparison, field));
      }
      file_.space.conditions.push_back(*condition);
    }
    return {};
  }

  Result<void> CheckIsOfSpace(const std::string& name, const std::string& field) const {
    std::vector<std::string_view> names;
    for (const auto& [listed, texts] : file_.space.lists) names.emplace_back(listed);
    for (const auto& [fixed, text] : file_.space.fixed) names.emplace_back(fixed);
    if (std::ranges::find(names, name) != names.end()) return {};
    const std::string message = "hyper_parameters has no " + name;
    return Wrong(field, names.empty() ? message : message + DidYouMean(name, names));
  }

  // A value that is never had is a slip; what ranges may give is not known.
  Result<void> CheckMayHave(const Condition::Comparison& comparison, const std::string& field) const {
    if (first_range_.contains(comparison.name)) return {};
    std::vector<std::string_view> values;
    for (const auto& [name, texts] : file_.space.lists) {
      if (name == comparison.name) values.assign(texts.begin(), texts.end());
    }
    if (const auto fixed = file_.space.fixed.find(comparison.name); fixed != file_.space.fixed.end()) {
      values.emplace_back(fixed->second);
    }
    if (std::ranges::find(values, comparison.value) != values.end()) return {};
    return Wrong(field, comparison.name + " is never " + comparison.value + "; expected one of: " + Joined(values));
  }

  // Of what has to be drawn nobody said how many.
  void DrawUntilStopped() {
    const bool has_to_draw =
        !first_range_.empty() || tuners::CandidatesOf(file_.tuner) == tuners::CandidateSource::kDrawn;
    if (file_.sampling || !has_to_draw || !MayGoOnUntilStopped(file_)) return;
    file_.sampling = SamplingUntilStopped(file_);
  }

  // Whether the tuner draws its trials, and whether it has to.
  Result<void> CheckSource() const {
    const std::string field = "tuner." + file_.tuner + ".trials";
    const tuners::CandidateSource source = tuners::CandidatesOf(file_.tuner);
    const bool draws = file_.sampling.has_value();
    if (draws && source == tuners::CandidateSource::kGiven) {
      return Wrong(field, file_.tuner + " tries every combination; expected a tuner that draws trials, such as random");
    }
    const std::size_t dimensions = draws ? Drawing(file_.space).dimensions().size() : 0;
    if (draws && dimensions == 0) {
      return Wrong(field, "there is nothing to draw; expected a list of several or a range among hyper_parameters");
    }
    if (draws && file_.sampling->trials > kTrialCountMax) {
      return Wrong(field, "got " + std::to_string(file_.sampling->trials) + "; expected at most 100000 in a study");
    }
    if (draws && file_.sampling->method == SamplingMethod::kSobol && dimensions > kSobolDimensionsMax) {
      return Wrong("hyper_parameters", "these are more than 3667 lists and ranges; expected at most so many for sobol");
    }
    if (draws) return {};
    if (!first_range_.empty()) {
      const std::string ranged = first_range_.begin()->second + " is a range";
      if (source == tuners::CandidateSource::kGiven) {
        return Wrong(first_range_.begin()->second, "got a range; expected values: " + file_.tuner +
                                                       " tries every combination, random draws from ranges");
      }
      return MissesTrials(file_, ": " + ranged);
    }
    if (source != tuners::CandidateSource::kDrawn) return {};
    return MissesTrials(file_);
  }

  Result<void> ReadTrials() {
    const YamlNode* trials = root_.Find("trials");
    if (trials != nullptr && (trials->kind != NodeKind::kList || trials->items.empty())) {
      return Wrong("trials", "got " + (trials->kind == NodeKind::kList ? "an empty list" : Describe(*trials)) +
                                 "; expected a list of at least one trial");
    }
    const bool tries_space = trials == nullptr || !file_.space.lists.empty();
    std::size_t space_count = tries_space ? file_.space.Count() : 0;
    if (file_.sampling.has_value()) space_count = file_.sampling->trials;
    const std::size_t explicit_count = trials == nullptr ? 0 : trials->items.size();
    if (space_count > kTrialCountMax || explicit_count > kTrialCountMax - space_count) {
      return Wrong(space_count > kTrialCountMax ? "hyper_parameters" : "trials",
                   "these are more than 100000 trials; expected at most 100000 in a study");
    }
    if (tries_space) ReadTrialsOfSpace();
    for (std::size_t i = 0; i < explicit_count; ++i) {
      ESPALIER_RETURN_IF_ERROR(ReadTrial(trials->items[i], ItemField("trials", i)));
    }
    return {};
  }

  void ReadTrialsOfSpace() {
    std::set<std::pair<std::string, std::string>> written;
    for (const WrittenValue& value : file_.written) written.emplace(value.name, value.text);
    std::vector<TrialText> trials =
        file_.sampling.has_value() ? Sample(file_.space, *file_.sampling) : file_.space.Grid();
    for (TrialText& trial : trials) {
      for (const auto& [name, text] : trial) {
        const auto range = first_range_.find(name);
        if (range == first_range_.end() || !written.emplace(name, text).second) continue;
        AddWritten(name, ParseExpression(text).value(), range->second);
      }
      file_.candidates.push_back(tuners::Candidate{std::move(trial), std::nullopt});
    }
    file_.from_space = file_.candidates.size();
  }

  Result<void> ReadTrial(const YamlNode& trial, const std::string& field) {
    if (trial.kind != NodeKind::kMapping) {
      return Wrong(field, "got " + Describe(trial) + "; expected a mapping of names to values, with steps if you like");
    }
    TrialText own;
    tuners::Candidate candidate{file_.space.fixed, std::nullopt};
    for (const YamlEntry& entry : trial.entries) {
      const std::string entry_field = field + "." + entry.key;
      if (entry.key == "steps") {
        ESPALIER_ASSIGN(const std::int64_t steps, WholeNumber(entry.value, entry_field, 1));
        candidate.steps = Step{steps};
        continue;
      }
      ESPALIER_ASSIGN(Expression expression, ToExpression(entry.value, entry_field));
      if (!RangesOf(expression).empty()) return Wrong(entry_field, "got a range; expected the value of this trial");
      own[entry.key] = AddWritten(entry.key, std::move(expression), entry_field);
    }
    for (const auto& [name, text] : own) candidate.sequences[name] = text;
    Apply(file_.space.conditions, candidate.sequences);
    candidate.sequences.merge(own);  // what it says itself, it has
    file_.candidates.push_back(std::move(candidate));
    return {};
  }

  const YamlNode& root_;
  StudyFile& file_;
  std::map<std::string, std::string> first_range_;  // of a hyper-parameter, the first field that has ranges
};

}  // namespace

Result<std::optional<Sampling>> TakeSampling(StudyFile& file) {
  const std::string field = "tuner." + file.tuner + ".";
  tuners::Options own;
  for (const char* const name : {"trials", "seed", "sampling"}) {
    if (auto option = file.tuner_options.extract(name)) own.insert(std::move(option));
  }
  if (own.empty()) return std::nullopt;
  Sampling sampling = SamplingUntilStopped(file);
  const auto whole = [&](const std::string& name, std::int64_t least) -> Result<std::int64_t> {
    const Result<Step> value = tuners::StepOption(own, name, Step{least});
    if (!value.has_value()) return Wrong(field + name, value.error().message);
    return value->value;
  };
  if (own.contains("trials")) {
    ESPALIER_ASSIGN(const std::int64_t trials, whole("trials", 1));
    sampling.trials = static_cast<std::size_t>(trials);
    sampling.until_stopped = false;
  } else if (!MayGoOnUntilStopped(file)) {
    return MissesTrials(file);
  }
  if (own.contains("seed")) {
    ESPALIER_ASSIGN(sampling.seed, whole("seed", 0));
  }
  const std::optional<SamplingMethod> only = tuners::SamplingOf(file.tuner);
  if (const auto method = own.find("sampling"); method != own.end()) {
    const auto* const value = std::get_if<Value>(&method->second);
    const auto* const name = value == nullptr ? nullptr : std::get_if<std::string>(value);
    if (name == nullptr) return Wrong(field + "sampling", "expected a method's name, such as random or sobol");
    const Result<SamplingMethod> known = ParseSamplingMethod(*name);
    if (!known.has_value()) return Wrong(field + "sampling", known.error().message);
    if (only && *known != *only)
      return Wrong(field + "sampling", "got " + *name + "; expected " + std::string(Name(*only)));
    sampling.method = *known;
  }
  return sampling;
}

Result<void> ReadSpace(const YamlNode& root, StudyFile& file) { return SpaceReader(root, file).Read(); }

}  // namespace espalier
