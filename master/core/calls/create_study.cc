#include <algorithm>

#include "master/core/calls/study_calls.h"
#include "master/core/state/stored_text.h"
#include "searchplan/plan/key_text.h"

namespace espalier::master {
namespace {

std::string Join(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Result<const TrainerRecord*> FindTrainer(const MasterState& state, const StudySpecification& specification) {
  if (state.trainers.empty()) return MakeError(ErrorCode::kUnavailable, "no server has registered a trainer yet");
  std::set<std::string> names;
  std::set<std::string> data;
  for (const auto& [key, record] : state.trainers) {
    names.insert(key.first);
    if (key.first == specification.trainer) data.insert(key.second.empty() ? "(none)" : key.second);
  }
  if (data.empty()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "unknown trainer '" + specification.trainer + "'; expected one of: " + Join(names), "trainer");
  }
  const auto it = state.trainers.find({specification.trainer, specification.data});
  if (it == state.trainers.end()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "trainer " + specification.trainer + " has no data '" + specification.data +
                         "'; expected one of: " + Join(data),
                     "data");
  }
  return &it->second;
}

// Of the connected servers that offer the trainer: the kind with the most slots, of several the first by name.
Result<std::string> ChooseDeviceKind(const MasterState& state, const TrainerKey& trainer) {
  std::map<std::string, int> slots;
  for (const auto& [name, server] : state.servers) {
    if (server.session && server.trainers.contains(trainer)) slots[server.device_kind] += server.slot_count;
  }
  if (slots.empty()) {
    return MakeError(ErrorCode::kUnavailable, "no server that offers trainer '" + trainer.first + "' is connected");
  }
  return std::max_element(slots.begin(), slots.end(), [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// Before anything is looked up, so that messages can repeat these texts.
Result<void> CheckTexts(const StudySpecification& specification) {
  ESPALIER_RETURN_IF_ERROR(CheckName(specification.name, "study"));
  ESPALIER_RETURN_IF_ERROR(CheckText(specification.trainer, kNameBytesMax, "trainer"));
  ESPALIER_RETURN_IF_ERROR(CheckText(specification.data, kNameBytesMax, "data"));
  ESPALIER_RETURN_IF_ERROR(CheckText(specification.metric, kNameBytesMax, "metric.name"));
  for (const auto& [name, type] : specification.undeclared) ESPALIER_RETURN_IF_ERROR(CheckName(name, "undeclared"));
  return CheckText(specification.definition, kDefinitionBytesMax, "definition");
}

Result<void> CheckSpecification(const StudySpecification& specification, const TrainerRecord& trainer) {
  if (specification.step_updates < 0) {
    return MakeError(ErrorCode::kInvalidArgument, "expected epoch or at least 1 update", "step");
  }
  if (specification.evaluate_every < 0) {
    return MakeError(ErrorCode::kInvalidArgument, "expected a whole number >= 1", "evaluate.every");
  }
  for (const auto& [name, type] : specification.undeclared) {
    if (trainer.schema.takes_any && trainer.schema.Find(name) == nullptr) continue;
    return MakeError(
        ErrorCode::kInvalidArgument,
        "trainer " + trainer.name + (trainer.schema.takes_any ? " declares " : " has no hyper-parameter ") + name,
        "undeclared");
  }
  if (std::find(trainer.metrics.begin(), trainer.metrics.end(), specification.metric) == trainer.metrics.end()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "trainer " + trainer.name + " has no metric '" + specification.metric +
                         "'; expected one of: " + Join({trainer.metrics.begin(), trainer.metrics.end()}),
                     "metric.name");
  }
  return {};
}

// All but the device kind.
Result<Study> StudyOf(const StudySpecification& specification, const TrainerRecord& trainer) {
  ESPALIER_RETURN_IF_ERROR(CheckSpecification(specification, trainer));
  Study study;
  study.specification = specification;
  study.training = {.trainer = trainer.name,
                    .code_digest = trainer.code_digest,
                    .data = trainer.data,
                    .data_digest = trainer.data_digest,
                    .step_updates = specification.step_updates,
                    .schema = trainer.schema};
  study.evaluation = trainer.evaluation_digest;
  study.metric_names = trainer.metrics;
  return study;
}

std::optional<StudyId> RunningStudyOfName(const MasterState& state, const std::string& user, const std::string& name) {
  for (const StudyId id : state.running_studies) {
    const Study& study = state.studies.at(id);
    if (study.user == user && study.specification.name == name) return id;
  }
  return std::nullopt;
}

std::vector<std::int64_t> IdsOf(const StudyCreated& created) { return {created.study.value, created.attached ? 1 : 0}; }

}  // namespace

Digest128 ContentOf(const Caller& caller, const CreateStudy& call) {
  const StudySpecification& specification = call.specification;
  KeyText key("create-study-1");
  key.Add(caller.user).Add(caller.team).Add(specification.name).Add(specification.trainer).Add(specification.data);
  key.Add(std::to_string(specification.step_updates)).Add(std::to_string(specification.evaluate_every));
  key.Add(specification.metric).Add(Name(specification.goal)).Add(Name(specification.scope));
  key.Add(specification.definition);
  for (const auto& [name, type] : specification.undeclared) key.Add(name).Add(Name(type));
  return DigestOf(key.text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const CreateStudy& call) {
  ESPALIER_RETURN_IF_ERROR(CheckName(caller.user, "user"));
  ESPALIER_RETURN_IF_ERROR(CheckName(caller.team, "team"));
  const std::string& name = call.specification.name;
  if (const auto running = RunningStudyOfName(draft.state(), caller.user, name)) {
    if (draft.state().studies.at(*running).specification == call.specification) return IdsOf({*running, true});
    return MakeError(ErrorCode::kAlreadyExists,
                     "study '" + name + "' is running with other content; choose another name, or wait until study " +
                         std::to_string(running->value) + " is finished",
                     "study");
  }
  ESPALIER_ASSIGN(Study study, PlanStudy(draft.state(), call.specification));
  const StudyId id = draft.state().next.study;
  study.id = id;
  study.user = caller.user;
  study.team = caller.team;
  study.created_at = draft.now;
  draft.Emit(LogLine{LogLevel::kInfo, "study created id=" + std::to_string(id.value) + " name=" + name});
  draft.Do(AddStudy{std::move(study)});
  return IdsOf({id, false});
}

StudyCreated AnswerOf(const CreateStudy&, const std::vector<std::int64_t>& ids) {
  return {StudyId{ids.at(0)}, ids.at(1) != 0};
}

Result<Study> PlanStudy(const MasterState& state, const StudySpecification& specification) {
  ESPALIER_RETURN_IF_ERROR(CheckTexts(specification));
  ESPALIER_ASSIGN(const TrainerRecord* trainer, FindTrainer(state, specification));
  ESPALIER_ASSIGN(Study study, StudyOf(specification, *trainer));
  ESPALIER_ASSIGN(study.device_kind, ChooseDeviceKind(state, {trainer->name, trainer->data}));
  return study;
}

Result<Study> PlanForecast(const MasterState& state, const StudySpecification& specification) {
  ESPALIER_RETURN_IF_ERROR(CheckTexts(specification));
  const bool registered = std::any_of(state.trainers.begin(), state.trainers.end(),
                                      [&](const auto& entry) { return entry.first.first == specification.trainer; });
  if (!registered && !specification.undeclared.empty()) {
    return StudyOf(specification, {.name = specification.trainer,
                                   .data = specification.data,
                                   .schema = {.takes_any = true},
                                   .metrics = {specification.metric}});
  }
  ESPALIER_ASSIGN(const TrainerRecord* trainer, FindTrainer(state, specification));
  ESPALIER_ASSIGN(Study study, StudyOf(specification, *trainer));
  study.device_kind = ChooseDeviceKind(state, {trainer->name, trainer->data}).value_or("");
  return study;
}

}  // namespace espalier::master
