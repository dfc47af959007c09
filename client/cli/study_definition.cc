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
  return CompactJson(Json::Object({{"data", study.data},
                                   {"evaluate_every", study.evaluate_every_steps},
                                   {"fixed", Json::Sorted(file.space.fixed)},
                                   {"goal", Name(study.goal)},
                                   {"metric", study.metric},
                                   {"share", Name(study.scope)},
                                   {"step", study.step == StepMeaning{} ? Json("epoch") : Json(study.step.updates)},
                                   {"study", study.name},
                                   {"trainer", study.trainer},
                                   {"trials", std::move(trials)},
                                   {"tuned", std::move(tuned)},
                                   {"tuner", Json::Object({{file.tuner, std::move(options)}})}}));
}

}  // namespace espalier
