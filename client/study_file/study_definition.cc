// A study as a study file in JSON, in one form: its keys are sorted, but for those of the tuned hyper-parameters, whose
// order is the grid's.
#include "client/json.h"
#include "client/study_file/study_file.h"
#include "client/study_file/study_values.h"
#include "client/tuners/registry.h"
#include "searchplan/sequence/expression.h"

namespace espalier {
namespace {

// A plain value as JSON has it, a sequence as a text: so a study file tells the text "0.1" from the number.
Json SequenceInJson(const std::string& text) {
  const Result<Expression> expression = ParseExpression(text);
  const Value* const value = expression.has_value() ? std::get_if<Value>(&expression->form) : nullptr;
  return value != nullptr ? ToJson(*value) : Json(text);
}

Json OptionInJson(const tuners::Option& option) {
  if (const auto* const value = std::get_if<Value>(&option)) return ToJson(*value);
  Json counts = Json::Object();
  for (const auto& [number, count] : std::get<tuners::Counts>(option)) counts.Add(std::to_string(number), count);
  return counts;
}

Json TrialInJson(const tuners::Candidate& candidate) {
  Json trial = Json::Object();
  for (const auto& [name, text] : candidate.sequences) trial.Add(name, SequenceInJson(text));
  if (candidate.steps.has_value()) trial.Add("steps", candidate.steps->value);
  return trial;
}

Json SpaceInJson(const SearchSpace& space) {
  Json hyper_parameters = Json::Object();
  for (const auto& [name, texts] : space.lists) {
    Json values = Json::Array();
    for (const std::string& text : texts) values.Append(SequenceInJson(text));
    hyper_parameters.Add(name, std::move(values));
  }
  for (const auto& [name, text] : space.fixed) hyper_parameters.Add(name, SequenceInJson(text));
  return hyper_parameters;
}

Json ConditionsInJson(const SearchSpace& space) {
  Json only_if = Json::Object();
  for (const Condition& condition : space.conditions) only_if.Add(condition.of, Print(condition));
  return only_if;
}

Json StopInJson(const StopRule& stop) {
  Json rule = Json::Object();
  if (stop.after) rule.Add("after", DurationText(*stop.after));
  if (stop.device_time) rule.Add("device_hours", HoursIn(*stop.device_time));
  if (stop.metric) rule.Add("metric", *stop.metric);
  return rule;
}

Json ReuseInJson(const Reuse& reuse) {
  Json json = Json::Object({{"study", reuse.study.value}});
  if (reuse.until) json.Add("until", reuse.until->value);
  return json;
}

bool HasRules(const PolicyChoices& policy) { return policy.may_stop || policy.min_steps > 0 || !policy.speeds.empty(); }

Json RulesInJson(const PolicyChoices& policy) {
  Json rules = Json::Object();
  if (policy.may_stop) rules.Add("may_stop", true);
  if (policy.min_steps > 0) rules.Add("min", policy.min_steps);
  std::map<std::string, double> speeds;
  for (const auto& [slots, speed] : policy.speeds) speeds[std::to_string(slots)] = speed;
  if (!speeds.empty()) rules.Add("speeds", Json::Sorted(speeds));
  return rules;
}

}  // namespace

std::string DefinitionOf(const StudyFile& file) {
  const StudySpecification& study = file.specification;
  Json options = Json::Object();
  tuners::Options tuner_options = file.tuner_options;
  if (file.sampling.has_value()) {
    tuner_options["sampling"] = std::string(Name(file.sampling->method));
    tuner_options["seed"] = file.sampling->seed;
    if (!file.sampling->until_stopped) tuner_options["trials"] = static_cast<std::int64_t>(file.sampling->trials);
  }
  for (const auto& [name, value] : tuner_options) options.Add(name, OptionInJson(value));
  Json definition = Json::Object({{"check", Name(study.check)}});
  if (!study.data.empty()) definition.Add("data", study.data);
  if (study.policy.deadline) definition.Add("deadline", DurationText(*study.policy.deadline));
  if (file.code && !file.code->environment.empty()) definition.Add("environment", Json::Sorted(file.code->environment));
  if (study.evaluate_every_steps > 0) {
    definition.Add("evaluate", Json::Object({{"every", study.evaluate_every_steps}}));
  }
  if (study.hang_after) definition.Add("hang_after", DurationText(*study.hang_after));
  definition.Add("hyper_parameters", SpaceInJson(file.space));
  definition.Add("keep", Name(study.keep));
  definition.Add("metric", Json::Object({{"goal", Name(study.goal)}, {"name", study.metric}}));
  if (!file.space.conditions.empty()) definition.Add("only_if", ConditionsInJson(file.space));
  if (HasRules(study.policy)) definition.Add("policy", RulesInJson(study.policy));
  if (study.priority != 1) definition.Add("priority", study.priority);
  if (file.code && !file.code->python.empty()) definition.Add("python", file.code->python);
  if (study.reuse) definition.Add("reuse_from", ReuseInJson(*study.reuse));
  definition.Add("share", Name(study.scope));
  definition.Add("step",
                 study.step == StepMeaning{} ? Json("epoch") : Json(std::to_string(study.step.updates) + " updates"));
  definition.Add("study", study.name);
  if (study.stop != StopRule{}) definition.Add("stop", StopInJson(study.stop));
  Json trials = Json::Array();
  for (std::size_t i = file.from_space; i < file.candidates.size(); ++i) trials.Append(TrialInJson(file.candidates[i]));
  definition.Add("trainer", study.trainer);
  if (file.from_space < file.candidates.size()) definition.Add("trials", std::move(trials));
  definition.Add("tuner", Json::Object({{file.tuner, std::move(options)}}));
  definition.Add("tuner_version", tuners::VersionOf(file.tuner));
  return CompactJson(definition);
}

}  // namespace espalier
