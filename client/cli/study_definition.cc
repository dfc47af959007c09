// A study as canonical JSON: the keys of each object are sorted, and the order in which they are written here is that.
#include "client/cli/json_output.h"
#include "client/cli/study_file.h"

namespace espalier {
std::string DefinitionOf(const StudyFile& file) {
  const StudySpecification& study = file.specification;
  Json options = Json::Object();
  for (const auto& [name, value] : file.tuner_options) options.Add(name, ToJson(value));
  Json tuned = Json::Array();
  for (const auto& [name, texts] : file.space.lists) tuned.Append(Json::Array({name, Json::ArrayOf(texts)}));
  Json trials = Json::Array();
  for (std::size_t i = file.grid_count; i < file.candidates.size(); ++i) {
    const tuners::Candidate& candidate = file.candidates[i];
    Json trial = Json::Object({{"sequences", Json::Sorted(candidate.sequences)}});
    if (candidate.steps.has_value()) trial.Add("steps", candidate.steps->value);
    trials.Append(std::move(trial));
  }
  Json definition = Json::Object({{"check", Name(study.check)}, {"data", study.data}});
  if (file.code) definition.Add("environment", Json::Sorted(file.code->environment));
  definition.Add("evaluate_every", study.evaluate_every_steps);
  definition.Add("fixed", Json::Sorted(file.space.fixed));
  definition.Add("goal", Name(study.goal));
  definition.Add("keep", Name(study.keep));
  definition.Add("metric", study.metric);
  if (file.code) definition.Add("python", file.code->python);
  definition.Add("share", Name(study.scope));
  definition.Add("step", study.step == StepMeaning{} ? Json("epoch") : Json(study.step.updates));
  definition.Add("study", study.name);
  definition.Add("trainer", study.trainer);
  definition.Add("trials", std::move(trials));
  definition.Add("tuned", std::move(tuned));
  definition.Add("tuner", Json::Object({{file.tuner, std::move(options)}}));
  return CompactJson(definition);
}

}  // namespace espalier
