// A study as canonical JSON.
#include <nlohmann/json.hpp>

#include "client/cli/study_file.h"

namespace espalier {
namespace {

using Json = nlohmann::json;

Json ToJson(const Value& value) {
  return std::visit([](const auto& plain) { return Json(plain); }, value);
}

Json ToJson(const TrialText& trial) { return Json(trial); }

}  // namespace

std::string DefinitionOf(const StudyFile& file) {
  const StudySpecification& study = file.specification;
  Json options = Json::object();
  for (const auto& [name, value] : file.tuner_options) options[name] = ToJson(value);
  Json tuned = Json::array();
  for (const auto& [name, texts] : file.space.lists) tuned.push_back(Json::array({name, texts}));
  Json trials = Json::array();
  for (std::size_t i = file.grid_count; i < file.candidates.size(); ++i) {
    const Candidate& candidate = file.candidates[i];
    Json trial = {{"sequences", ToJson(candidate.sequences)}};
    if (candidate.steps.has_value()) trial["steps"] = candidate.steps->value;
    trials.push_back(std::move(trial));
  }
  const Updates* updates = std::get_if<Updates>(&study.step);
  const Json definition = {{"study", study.name},
                           {"trainer", study.trainer},
                           {"data", study.data},
                           {"step", updates == nullptr ? Json("epoch") : Json(updates->count)},
                           {"evaluate_every", study.evaluate_every_steps},
                           {"fixed", ToJson(file.space.fixed)},
                           {"tuned", std::move(tuned)},
                           {"trials", std::move(trials)},
                           {"metric", study.metric},
                           {"goal", Name(study.goal)},
                           {"tuner", {{file.tuner, std::move(options)}}},
                           {"share", Name(study.scope)}};
  return definition.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace espalier
