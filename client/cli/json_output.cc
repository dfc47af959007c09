#include "client/cli/json_output.h"

#include "proto/convert_study_choices.h"
#include "searchplan/sequence/near_miss.h"

namespace espalier {
namespace {

Json EvaluationsOf(const google::protobuf::RepeatedPtrField<v1::TrialEvaluation>& evaluations) {
  Json list = Json::Array();
  for (const v1::TrialEvaluation& evaluation : evaluations) {
    list.Append(Json::Object({{"step", evaluation.step()}, {"metrics", Json::Sorted(evaluation.metrics())}}));
  }
  return list;
}

Json CountsOf(const TrialCounts& counts) {
  return Json::Object({{"total", TrialCount(counts)}, {"by_state", Json::Sorted(counts)}});
}

// What a list says of a study as well as its own document.
template <class Study>
Json HeadOf(const Study& study, const TrialCounts& trials) {
  return Json::Object({{"id", study.study_id()},
                       {"name", study.name()},
                       {"user", study.user()},
                       {"state", study.state()},
                       {"trainer", study.trainer()},
                       {"goal", Name(FromProto(study.goal()))},
                       {"share", ScopeName(study.scope())},
                       {"trials", CountsOf(trials)}});
}

template <class Study>
Json BestOf(const Study& study) {
  if (!study.has_best()) return nullptr;
  return Json::Object({{"trial", study.best().trial_id()},
                       {"metric", study.best().metric()},
                       {"value", study.best().value()},
                       {"step", study.best().step()}});
}

Json ReuseInJson(const v1::ReusedStudy& reuse) {
  return Json::Object({{"study", reuse.study_id()},
                       {"code_digest", reuse.code_digest()},
                       {"until", reuse.until_step() == 0 ? Json(nullptr) : Json(reuse.until_step())}});
}

}  // namespace

std::string_view ScopeName(v1::Scope scope) {
  const Result<Scope> known = FromProto(scope);
  return known.has_value() ? Name(*known) : "";
}

std::int64_t TrialCount(const TrialCounts& by_state) {
  std::int64_t total = 0;
  for (const auto& [state, count] : by_state) total += count;
  return total;
}

Json ToJson(const v1::StepCounts& steps) {
  return Json::Object({{"claimed", steps.claimed()},
                       {"unique", steps.unique()},
                       {"trained", steps.trained()},
                       {"re_derived", steps.re_derived()},
                       {"wasted", steps.wasted()},
                       {"reused", steps.reused()}});
}

Json ToJson(const v1::StudySummary& study) {
  Json document = HeadOf(study, study.trials_by_state());
  document.Add("cancelled", study.cancelled());
  document.Add("keep", Name(FromProto(study.keep()).value_or(Keep::kBest)));
  document.Add("steps", ToJson(study.steps()));
  document.Add("merge_rate", study.merge_rate());
  document.Add("time_weighted_merge_rate", study.time_weighted_merge_rate());
  document.Add("slot_seconds", study.slot_seconds());
  document.Add("shared_seconds", study.shared_seconds());
  document.Add("saved_seconds", study.saved_seconds());
  document.Add("weight", study.weight());
  document.Add("elapsed_seconds", study.elapsed_seconds());
  document.Add("makespan_bound_seconds", study.makespan_bound_seconds());
  document.Add("best", BestOf(study));
  document.Add("stopped", study.stopped().empty() ? Json(nullptr) : Json(study.stopped()));
  document.Add("held_back", study.held_back().empty() ? Json(nullptr) : Json(study.held_back()));
  document.Add("check", study.has_check()
                            ? Json::Object({{"state", study.check().state()}, {"text", study.check().text()}})
                            : Json(nullptr));
  document.Add("reuses", study.has_reuse() ? ReuseInJson(study.reuse()) : Json(nullptr));
  return document;
}

Json ToJson(const v1::StudyListing& study) {
  Json document = HeadOf(study, study.trials_by_standing());
  document.Add("steps", Json::Object({{"claimed", study.claimed_steps()}}));
  document.Add("elapsed_seconds", study.elapsed_seconds());
  document.Add("best", BestOf(study));
  const std::int64_t reused = study.reuse_from_study_id();
  document.Add("reuses", reused == 0 ? Json(nullptr) : Json::Object({{"study", reused}}));
  return document;
}

// Null: no policy has written anything on it.
Json LabelInJson(const v1::Trial& trial) {
  if (!trial.has_label()) return nullptr;
  return Json::Object({{"policy", trial.label().policy()}, {"text", trial.label().text()}});
}

Json OriginInJson(const v1::Trial& trial) {
  if (!trial.has_origin()) return nullptr;
  const v1::TrialOrigin& origin = trial.origin();
  return Json::Object({{"study", origin.study_id()},
                       {"code_digest", origin.code_digest()},
                       {"step", origin.step()},
                       {"plan_node", origin.plan_node_id()}});
}

Json ToJson(const v1::Trial& trial) {
  return Json::Object({{"id", trial.trial_id()},
                       {"state", trial.state()},
                       {"steps", trial.steps()},
                       {"sequences", Json::Sorted(trial.sequences())},
                       {"metric", trial.has_metric() ? Json(trial.metric()) : Json(nullptr)},
                       {"state_sha256", trial.state_sha256()},
                       {"horizon", trial.horizon_steps()},
                       {"evaluations", EvaluationsOf(trial.evaluations())},
                       {"message", trial.message()},
                       {"origin", OriginInJson(trial)},
                       {"label", LabelInJson(trial)}});
}

double SecondsOf(const google::protobuf::Timestamp& time) {
  return static_cast<double>(time.seconds()) + static_cast<double>(time.nanos()) * 1e-9;
}

std::string HintOf(const v1::NearMiss& pair) {
  const Step to = pair.to_step() == 0 ? kStepMax : Step{pair.to_step()};
  return Describe(NearMiss{Step{pair.from_step()}, pair.difference(), to}, kStepMax);
}

Json ToJson(const v1::GetTrialResponse& trial) {
  Json document = ToJson(trial.trial());
  document.Add("study", trial.study_id());
  document.Add("metrics", EvaluationsOf(trial.metrics()));
  return document;
}

Json ToJson(const v1::ForecastResponse& forecast) {
  Json studies = Json::Array();
  for (const v1::StudyForecast& study : forecast.studies()) {
    studies.Append(Json::Object({{"name", study.name()},
                                 {"trials", study.trials()},
                                 {"total_steps", study.total_steps()},
                                 {"unique_steps", study.unique_steps()},
                                 {"merge_rate", study.merge_rate()},
                                 {"is_kept_to_itself", study.is_kept_to_itself()}}));
  }
  Json near_misses = Json::Array();
  for (const v1::NearMiss& pair : forecast.near_misses()) {
    near_misses.Append(Json::Object({{"hyper_parameter", pair.hyper_parameter()},
                                     {"first", pair.first()},
                                     {"second", pair.second()},
                                     {"from_step", pair.from_step()},
                                     {"to_step", pair.to_step() == 0 ? Json(nullptr) : Json(pair.to_step())},
                                     {"difference", pair.difference()},
                                     {"hint", HintOf(pair)}}));
  }
  Json early_partings = Json::Array();
  for (const v1::EarlyParting& parting : forecast.early_partings()) {
    early_partings.Append(Json::Object({{"hyper_parameter", parting.hyper_parameter()},
                                        {"sequences", Json::ArrayOf(parting.sequences())},
                                        {"sequence_count", parting.sequence_count()},
                                        {"at_step", parting.at_step()},
                                        {"hint", parting.hint()}}));
  }
  const auto known = [](bool is_known, auto number) { return is_known ? Json(number) : Json(nullptr); };
  return Json::Object(
      {{"trials", forecast.trials()},
       {"total_steps", forecast.total_steps()},
       {"unique_steps", forecast.unique_steps()},
       {"merge_rate", forecast.merge_rate()},
       {"trained_steps", known(forecast.has_trained_steps(), forecast.trained_steps())},
       {"remaining_steps", known(forecast.has_remaining_steps(), forecast.remaining_steps())},
       {"reused_steps", forecast.reused_steps()},
       {"slot_seconds", known(forecast.has_slot_seconds(), forecast.slot_seconds())},
       {"critical_path_seconds", known(forecast.has_critical_path_seconds(), forecast.critical_path_seconds())},
       {"checkpoint_bytes", known(forecast.has_checkpoint_bytes(), forecast.checkpoint_bytes())},
       {"studies", std::move(studies)},
       {"near_misses", std::move(near_misses)},
       {"near_miss_count", forecast.near_miss_count()},
       {"early_partings", std::move(early_partings)},
       {"early_parting_count", forecast.early_parting_count()}});
}

}  // namespace espalier
