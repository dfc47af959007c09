// What only a server knows about a study file.
#include <algorithm>
#include <cstdio>
#include <map>

#include "client/convert.h"
#include "client/study_file/study_file.h"
#include "client/study_file/study_values.h"
#include "proto/convert_schema.h"
#include "searchplan/sequence/message_text.h"

namespace espalier {
namespace {

// The trainer that trains nothing and takes any hyper-parameters.
constexpr std::string_view kSyntheticTrainer = "synthetic";

Result<const v1::TrainerDescription*> FindTrainer(const StudySpecification& study,
                                                  const std::vector<v1::TrainerDescription>& trainers) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> data;
  for (const v1::TrainerDescription& trainer : trainers) {
    if (trainer.name() == study.trainer && trainer.data() == study.data) return &trainer;
    if (std::find(names.begin(), names.end(), trainer.name()) == names.end()) names.push_back(trainer.name());
    if (trainer.name() == study.trainer) data.push_back(trainer.data());
  }
  if (names.empty())
    return Wrong("trainer", "no server has registered a trainer; expected one (see: espalier server list)");
  if (data.empty()) return Wrong("trainer", "unknown trainer " + study.trainer + DidYouMean(study.trainer, names));
  if (study.data.empty()) return Wrong("data", "is missing; expected one of: " + Joined(data));
  if (data.size() == 1 && data[0].empty()) {
    return Wrong("data", "got " + study.data + "; expected nothing: " + study.trainer + " brings its own data");
  }
  return Wrong("data", study.trainer + " has no data " + study.data + DidYouMean(study.data, data));
}

Result<void> CheckMetric(const StudySpecification& study, const v1::TrainerDescription& trainer) {
  const std::vector<std::string_view> known(trainer.metrics().begin(), trainer.metrics().end());
  if (known.empty() || std::find(known.begin(), known.end(), study.metric) != known.end()) return {};
  return Wrong("metric.name", study.trainer + " has no metric " + study.metric + DidYouMean(study.metric, known));
}

Result<void> CheckValues(StudyFile& file, const Schema& schema) {
  if (schema.takes_any) {
    ESPALIER_ASSIGN(file.specification.undeclared, GuessTypes(file, schema));
  }
  std::vector<std::string_view> known;
  for (const HyperParameter& hyper_parameter : schema.hyper_parameters) known.push_back(hyper_parameter.name);
  for (const WrittenValue& value : file.written) {
    const HyperParameter* hyper_parameter = schema.Find(value.name);
    if (hyper_parameter == nullptr && schema.takes_any) continue;
    if (hyper_parameter == nullptr) {
      const std::string message = file.specification.trainer + " has no hyper-parameter " + value.name;
      return Wrong(value.field, known.empty() ? message + "; expected none" : message + DidYouMean(value.name, known));
    }
    const Result<Sequence> sequence = CompileFor(*hyper_parameter, value.expression, value.horizon);
    if (!sequence.has_value()) return Wrong(value.field, sequence.error().message);
  }
  return {};
}

Result<void> CheckAll(StudyFile& file, const std::vector<v1::TrainerDescription>& trainers) {
  ESPALIER_ASSIGN(const v1::TrainerDescription* trainer, FindTrainer(file.specification, trainers));
  ESPALIER_RETURN_IF_ERROR(CheckMetric(file.specification, *trainer));
  ESPALIER_ASSIGN(const Schema schema, SchemaOf(*trainer));
  return CheckValues(file, schema);
}

// Where the value of a trial, by its index of submission, stands in the file; empty if it is not written there.
std::string FieldOfTrial(const StudyFile& file, std::size_t index, const std::string& name) {
  const bool is_of_space = index < file.from_space || index >= file.candidates.size();
  if (is_of_space && !MakeTunerOf(file)->KnowsItsTrials()) {
    return "hyper_parameters." + name;  // what it was drawn to is not known here
  }
  if (index >= file.candidates.size()) return {};
  const auto text = file.candidates[index].sequences.find(name);
  std::string own = index < file.from_space ? "" : "trials[" + std::to_string(index - file.from_space) + "]." + name;
  std::string of_list;
  for (const WrittenValue& value : file.written) {
    if (value.field == own) return own;
    const bool same = text != file.candidates[index].sequences.end() && value.text == text->second;
    if (same && value.name == name && value.field.starts_with("hyper_parameters.")) of_list = value.field;
  }
  return of_list.empty() ? own : of_list;
}

std::string FieldOfRequest(const StudyFile& file, std::string field) {
  static const std::map<std::string, std::string> kFields = {{"name", "study"},
                                                             {"evaluate_every_steps", "evaluate.every"},
                                                             {"hang_after_seconds", "hang_after"},
                                                             {"stop.after_seconds", "stop.after"},
                                                             {"stop.device_seconds", "stop.device_hours"},
                                                             {"metric", "metric.name"},
                                                             {"goal", "metric.goal"},
                                                             {"scope", "share"},
                                                             {"reuse_from_study_id", "reuse_from"},
                                                             {"reuse_until_step", "reuse_from.until"}};
  if (field.starts_with("study.")) field.erase(0, 6);
  if (const auto known = kFields.find(field); known != kFields.end()) return known->second;
  std::size_t index = 0;
  int name_at = 0;
  if (std::sscanf(field.c_str(), "trials[%zu].%n", &index, &name_at) != 1 || name_at == 0) return field;
  return FieldOfTrial(file, index, field.substr(static_cast<std::size_t>(name_at)));
}

}  // namespace

tl::expected<void, FileError> CheckTrainer(StudyFile& file, const std::vector<v1::TrainerDescription>& trainers) {
  const Result<void> outcome = CheckAll(file, trainers);
  if (!outcome.has_value()) return tl::unexpected(AtField(file, outcome.error()));
  return {};
}

tl::expected<void, FileError> CheckForForecast(StudyFile& file, const std::vector<v1::TrainerDescription>& trainers) {
  const bool registered = std::any_of(trainers.begin(), trainers.end(), [](const v1::TrainerDescription& trainer) {
    return trainer.name() == kSyntheticTrainer;
  });
  if (registered || file.specification.trainer != kSyntheticTrainer) return CheckTrainer(file, trainers);
  const Result<void> outcome = CheckValues(file, Schema{.takes_any = true});
  if (!outcome.has_value()) return tl::unexpected(AtField(file, outcome.error()));
  return {};
}

FileError AtRequestField(const StudyFile& file, const Error& error) {
  return AtField(file, Error{error.code, error.message, FieldOfRequest(file, error.field)});
}

}  // namespace espalier
