#include <algorithm>
#include <cmath>

#include "base/key_text.h"
#include "base/text.h"
#include "master/core/calls/study_calls.h"
#include "master/core/calls/weight_calls.h"
#include "master/core/origin.h"
#include "master/core/state/stored_text.h"

namespace espalier::master {
namespace {

// What gRPC carries besides its own.
constexpr std::size_t kRefusalBytesMax = 4096;

constexpr Seconds kHangAfterMax = std::chrono::hours(24000);
constexpr Seconds kDeadlineMax = std::chrono::hours(24000);
constexpr std::int64_t kMinStepsMax = std::int64_t{1} << 53;
constexpr double kSpeedMax = 1000;
constexpr Seconds kStopAfterMax = std::chrono::hours(24000);
constexpr Seconds kStopDeviceTimeMax = std::chrono::hours(24000000);

std::string Join(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Of the trainer and data that are asked for: the offer that was first seen last, among those that `is_wanted` takes.
// Null if there is none.
template <class Predicate>
const KnownOffer* NewestOffer(const MasterState& state, const StudySpecification& specification,
                              const Predicate& is_wanted) {
  const KnownOffer* newest = nullptr;
  for (const auto& [digest, known] : state.offers) {
    if (known.offer.trainer != specification.trainer || known.offer.data != specification.data) continue;
    if (!is_wanted(digest, known)) continue;
    if (newest == nullptr || known.first_seen > newest->first_seen) newest = &known;
  }
  return newest;
}

// The newest that a connected server offers by the reference. Error: kFailedPrecondition if none does.
Result<const Offer*> FindReferredOffer(const MasterState& state, const StudySpecification& specification) {
  const Digest128 reference = *specification.reference;
  const auto is_offered = [&](const Digest128& offer, const KnownOffer&) {
    return std::any_of(state.servers.begin(), state.servers.end(), [&](const auto& entry) {
      const auto described = entry.second.references.find(reference);
      return entry.second.session && described != entry.second.references.end() &&
             described->second.offers.contains(offer);
    });
  };
  if (const KnownOffer* known = NewestOffer(state, specification, is_offered)) return &known->offer;
  return MakeError(ErrorCode::kFailedPrecondition,
                   "no connected server offers trainer '" + specification.trainer + "' with data '" +
                       specification.data + "' by this reference; have it described again",
                   "reference_digest");
}

// The newest that a connected server offers, else the newest of all. Error: kInvalidArgument, with what there is.
Result<const Offer*> FindOffer(const MasterState& state, const StudySpecification& specification) {
  if (specification.reference) return FindReferredOffer(state, specification);
  if (state.offers.empty()) return MakeError(ErrorCode::kUnavailable, "no server has registered a trainer yet");
  const auto is_connected = [&](const Digest128& digest) {
    return std::any_of(state.servers.begin(), state.servers.end(), [&](const auto& entry) {
      const auto& offers = entry.second.offers;
      return entry.second.session &&
             std::any_of(offers.begin(), offers.end(), [&](const auto& made) { return made.second.offer == digest; });
    });
  };
  const auto is_listed = [](const Digest128&, const KnownOffer& known) { return known.listed; };
  const KnownOffer* known = NewestOffer(state, specification, [&](const Digest128& digest, const KnownOffer& each) {
    return each.listed && is_connected(digest);
  });
  if (known == nullptr) known = NewestOffer(state, specification, is_listed);
  if (known != nullptr) return &known->offer;
  std::set<std::string> names;
  std::set<std::string> data;
  for (const auto& [digest, each] : state.offers) {
    if (!each.listed) continue;
    names.insert(each.offer.trainer);
    if (each.offer.trainer == specification.trainer) data.insert(each.offer.data.empty() ? "(none)" : each.offer.data);
  }
  if (data.empty()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "unknown trainer '" + specification.trainer + "'; expected one of: " + Join(names), "trainer");
  }
  return MakeError(
      ErrorCode::kInvalidArgument,
      "trainer " + specification.trainer + " has no data '" + specification.data + "'; expected one of: " + Join(data),
      "data");
}

// Of the connected servers that offer exactly this: the kind with the most slots, of several the first by name.
Result<std::string> ChooseDeviceKind(const MasterState& state, const Offer& offer) {
  std::map<std::string, int> slots;
  const Digest128 wanted = DigestOf(offer);
  const Digest128 trainer = TrainerDigest(offer);
  for (const auto& [name, server] : state.servers) {
    const auto made = server.offers.find(trainer);
    if (server.session && made != server.offers.end() && made->second.offer == wanted) {
      slots[made->second.device_kind] += server.slot_count();
    }
  }
  if (slots.empty()) {
    return MakeError(ErrorCode::kUnavailable, "no server that offers trainer '" + offer.trainer + "' is connected");
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

Result<void> CheckStop(const StopRule& stop) {
  const auto is_time = [](const std::optional<Seconds>& time, Seconds most) {
    return !time || (*time > Seconds(0) && *time <= most);
  };
  if (!is_time(stop.after, kStopAfterMax)) {
    return MakeError(ErrorCode::kInvalidArgument, "expected more than 0 and at most 24,000 hours",
                     "stop.after_seconds");
  }
  if (!is_time(stop.device_time, kStopDeviceTimeMax)) {
    return MakeError(ErrorCode::kInvalidArgument, "expected more than 0 and at most 24,000,000 hours",
                     "stop.device_seconds");
  }
  if (stop.metric && !std::isfinite(*stop.metric)) {
    return MakeError(ErrorCode::kInvalidArgument, "expected a number", "stop.metric");
  }
  return {};
}

Result<void> CheckPolicyChoices(const PolicyChoices& policy) {
  if (policy.deadline && !(*policy.deadline > Seconds(0) && *policy.deadline <= kDeadlineMax)) {
    return MakeError(ErrorCode::kInvalidArgument, "expected more than 0 and at most 24,000 hours",
                     "policy.deadline_seconds");
  }
  if (policy.min_steps < 0 || policy.min_steps > kMinStepsMax) {
    return MakeError(ErrorCode::kInvalidArgument, "expected a whole number from 0 to 2^53", "policy.min_steps");
  }
  for (const auto& [slots, speed] : policy.speeds) {
    if (slots >= 2 && slots <= kDeviceSlotsMax && speed >= 1 && speed <= kSpeedMax) continue;
    return MakeError(ErrorCode::kInvalidArgument, "expected 2 to 1000 slots, and speeds from 1 to 1000",
                     "policy.speeds." + std::to_string(slots));
  }
  return {};
}

Result<void> CheckSpecification(const StudySpecification& specification, const Offer& offer) {
  if (specification.step.updates < 0) {
    return MakeError(ErrorCode::kInvalidArgument, "expected epoch or at least 1 update", "step");
  }
  if (specification.evaluate_every < 0) {
    return MakeError(ErrorCode::kInvalidArgument, "expected a whole number >= 1", "evaluate.every");
  }
  if (const auto& after = specification.hang_after; after && !(*after > Seconds(0) && *after <= kHangAfterMax)) {
    return MakeError(ErrorCode::kInvalidArgument, "expected more than 0 and at most 24,000 hours",
                     "hang_after_seconds");
  }
  ESPALIER_RETURN_IF_ERROR(CheckStop(specification.stop));
  ESPALIER_RETURN_IF_ERROR(CheckPolicyChoices(specification.policy));
  if (!(specification.priority >= kWeightMin && specification.priority <= kWeightMax)) {
    return MakeError(ErrorCode::kInvalidArgument, "expected a number from 0.001 to 1000", "priority");
  }
  for (const auto& [name, type] : specification.undeclared) {
    if (offer.schema.takes_any && offer.schema.Find(name) == nullptr) continue;
    return MakeError(
        ErrorCode::kInvalidArgument,
        "trainer " + offer.trainer + (offer.schema.takes_any ? " declares " : " has no hyper-parameter ") + name,
        "undeclared");
  }
  if (std::find(offer.metrics.begin(), offer.metrics.end(), specification.metric) == offer.metrics.end()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "trainer " + offer.trainer + " has no metric '" + specification.metric +
                         "'; expected one of: " + Join({offer.metrics.begin(), offer.metrics.end()}),
                     "metric.name");
  }
  return {};
}

// All but the device kind.
Result<Study> StudyOf(const StudySpecification& specification, const Offer& offer) {
  ESPALIER_RETURN_IF_ERROR(CheckSpecification(specification, offer));
  Study study;
  study.specification = specification;
  study.keep = specification.keep;
  study.weight = specification.priority;
  study.training = TrainingOf(offer, specification.step);
  study.evaluation = offer.evaluation_digest;
  study.metric_names = offer.metrics;
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
  key.Add(std::to_string(specification.step.updates)).Add(std::to_string(specification.evaluate_every));
  key.Add(specification.metric).Add(Name(specification.goal)).Add(Name(specification.scope));
  key.Add(Name(specification.keep)).Add(Name(specification.check)).Add(specification.definition);
  for (const auto& [name, type] : specification.undeclared) key.Add(name).Add(Name(type));
  if (specification.reference) key.Add(ToHex(*specification.reference));
  if (specification.hang_after) key.Add("hang after " + std::to_string(specification.hang_after->count()));
  const StopRule& stop = specification.stop;
  if (stop.after) key.Add("stop after " + std::to_string(stop.after->count()));
  if (stop.device_time) key.Add("stop after devices' " + std::to_string(stop.device_time->count()));
  if (stop.metric) key.Add("stop at " + espalier::Print(Value(*stop.metric)));
  if (const auto& reuse = specification.reuse) {
    key.Add("reuse " + std::to_string(reuse->study.value) + " until " +
            (reuse->until ? std::to_string(reuse->until->value) : "the end"));
  }
  const PolicyChoices& policy = specification.policy;
  if (policy.may_stop) key.Add("may stop");
  if (policy.deadline) key.Add("deadline " + espalier::Print(Value(policy.deadline->count())));
  if (policy.min_steps > 0) key.Add("min steps " + std::to_string(policy.min_steps));
  for (const auto& [slots, speed] : policy.speeds) {
    key.Add("speed on " + std::to_string(slots)).Add(espalier::Print(Value(speed)));
  }
  if (specification.priority != 1) key.Add("priority " + espalier::Print(Value(specification.priority)));
  return DigestOf(key.text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const CreateStudy& call) {
  ESPALIER_RETURN_IF_ERROR(CheckName(caller.user, "user"));
  ESPALIER_RETURN_IF_ERROR(CheckName(caller.team, "team"));
  if (const auto& reference = call.specification.reference) {
    const auto known = draft.state().references.find(*reference);
    if (known == draft.state().references.end() || known->second.team != caller.team) {
      return MakeError(ErrorCode::kNotFound, "your team has no reference " + ToHex(*reference), "reference_digest");
    }
  }
  const std::string& name = call.specification.name;
  if (const auto running = RunningStudyOfName(draft.state(), caller.user, name)) {
    if (draft.state().studies.at(*running).specification == call.specification) return IdsOf({*running, true});
    return MakeError(ErrorCode::kAlreadyExists,
                     "study '" + name + "' is running with other content; choose another name, or wait until study " +
                         std::to_string(running->value) + " is finished",
                     "study");
  }
  ESPALIER_ASSIGN(Study study, PlanStudy(draft.state(), call.specification));
  ESPALIER_RETURN_IF_ERROR(CheckMayTrain(draft.state(), study));
  const StudyId id = draft.state().next.study;
  study.id = id;
  study.user = caller.user;
  study.team = caller.team;
  study.created_at = draft.now;
  study.first_run = draft.state().next.run;
  ESPALIER_RETURN_IF_ERROR(CheckReuse(draft.state(), caller, study));
  draft.Log(LogLevel::kInfo, "study created", {{"study", id}, {"name", name}});
  draft.Do(AddStudy{std::move(study)});
  return IdsOf({id, false});
}

StudyCreated AnswerOf(const CreateStudy&, const std::vector<std::int64_t>& ids) {
  return {StudyId{ids.at(0)}, ids.at(1) != 0};
}

Result<void> CheckMayTrain(const MasterState& state, const Study& study) {
  const CheckFinding* failed = FailedCheckOf(state, study);
  if (failed == nullptr) return {};
  return MakeError(ErrorCode::kFailedPrecondition, CleanText(WhyStopped(*failed), kRefusalBytesMax), "check");
}

Result<Study> PlanStudy(const MasterState& state, const StudySpecification& specification) {
  ESPALIER_RETURN_IF_ERROR(CheckTexts(specification));
  ESPALIER_ASSIGN(const Offer* offer, FindOffer(state, specification));
  ESPALIER_ASSIGN(Study study, StudyOf(specification, *offer));
  ESPALIER_ASSIGN(study.device_kind, ChooseDeviceKind(state, *offer));
  return study;
}

Result<Study> PlanForecast(const MasterState& state, const StudySpecification& specification) {
  ESPALIER_RETURN_IF_ERROR(CheckTexts(specification));
  const bool registered = std::any_of(state.offers.begin(), state.offers.end(), [&](const auto& entry) {
    return entry.second.offer.trainer == specification.trainer;
  });
  if (!registered && !specification.undeclared.empty()) {
    return StudyOf(specification, {.trainer = specification.trainer,
                                   .code_digest = {},
                                   .data = specification.data,
                                   .data_digest = {},
                                   .evaluation_digest = {},
                                   .schema = {.hyper_parameters = {}, .takes_any = true},
                                   .metrics = {specification.metric}});
  }
  ESPALIER_ASSIGN(const Offer* offer, FindOffer(state, specification));
  ESPALIER_ASSIGN(Study study, StudyOf(specification, *offer));
  study.device_kind = ChooseDeviceKind(state, *offer).value_or("");
  return study;
}

}  // namespace espalier::master
