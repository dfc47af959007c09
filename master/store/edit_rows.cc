#include "master/store/edit_rows.h"

#include <map>

#include "master/store/plan_rows.h"
#include "master/store/run_rows.h"
#include "searchplan/sequence/expression.h"

namespace espalier::master {
namespace {

class StateRows {
 public:
  // Changes of plans and runs are written by others.
  void operator()(const ChangePlan& change) { plans_.Take(change.plan, change.change); }
  void operator()(const AddRun& change) { runs_.Take(change); }
  void operator()(const MakePromise& change) { runs_.Take(change); }
  void operator()(const SettlePromise& change) { runs_.Take(change); }
  void operator()(const SetTerms& change) { runs_.Take(change); }
  void operator()(const SetRunFailed& change) { runs_.Take(change); }
  void operator()(const ChargeRun& change) { runs_.Take(change); }
  void operator()(const SetRunState& change) { runs_.Take(change); }
  // Not stored.
  void operator()(const SetServer&) {}
  void operator()(const RemoveServer&) {}
  void operator()(const SetStopped&) {}
  void operator()(const PutOffRetirement&) {}
  void operator()(const PutOffLeaving&) {}
  void operator()(const ListKept&) {}
  void operator()(const ForgetRequests&) {}
  void operator()(const ForgetSome&) {}
  void operator()(const SetPosition&) {}
  void operator()(const RestartLeases&) {}
  void operator()(const WantRoom&) {}
  void operator()(const AskReference&) {}
  void operator()(const ForgetAsk&) {}
  void operator()(const BeginAnalysis&) {}
  void operator()(const EndAnalysis&) {}
  void operator()(const PlaceCheck&) {}
  void operator()(const EndCheck&) {}
  void operator()(const SetRefusal&) {}
  void operator()(const ForgetRefusals&) {}

  void operator()(const AddOffer& change) {
    const Offer& added = change.offer.offer;
    offer_.Add(DigestOf(added), added.trainer, added.code_digest, added.data, added.data_digest,
               added.evaluation_digest, Parameters(added.schema), added.metrics, change.offer.first_seen,
               change.offer.listed);
  }
  void operator()(const ListOffer& change) { listed_.Add(change.offer); }
  void operator()(const AddArchive& change) { archives_.insert_or_assign(change.sha256, change.archive); }
  void operator()(const DropArchive& change) { archives_.insert_or_assign(change.sha256, std::nullopt); }
  void operator()(const AddReference& change) {
    const TrainerReference& added = change.reference;
    std::vector<std::string> environment;
    for (const auto& [name, value] : added.environment) environment.push_back(name + "=" + value);
    reference_.Add(DigestOf(added), added.entry, added.archive, added.python, added.client.path, added.client.machine,
                   added.client.uid, added.folder, added.data, added.data_seen, environment, added.user, added.team);
  }
  void operator()(const SetUser& change) { users_.insert_or_assign(change.user.name, change.user); }
  void operator()(const AddCheckFinding& change) {
    check_.Add(change.key.trainer, change.key.device_kind, Name(change.finding.outcome), change.finding.message,
               change.at);
  }
  void operator()(const SetDrain& change) { drains_.insert_or_assign(change.server, change.drain); }
  void operator()(const SetPolicy& change) { policy_ = change.choice; }
  void operator()(const AddStudy& change) { added_studies_.insert_or_assign(change.study.id, change.study); }
  void operator()(const CloseStudy& change) {
    if (const auto added = added_studies_.find(change.study); added != added_studies_.end()) {
      added->second.closing = true;
      added->second.cancelled |= change.cancelled;
      if (added->second.stopped.empty()) added->second.stopped = change.stopped;
    } else {
      CloseStudy& closed = closed_studies_.try_emplace(change.study, change).first->second;
      closed.cancelled |= change.cancelled;
      if (closed.stopped.empty()) closed.stopped = change.stopped;
    }
  }
  void operator()(const FinishStudy& change) {
    if (const auto added = added_studies_.find(change.study); added != added_studies_.end()) {
      added->second.finished_at = change.at;
    } else {
      finished_studies_.insert_or_assign(change.study, change.at);
    }
  }
  void operator()(const SetKeep& change) {
    if (const auto added = added_studies_.find(change.study); added != added_studies_.end()) {
      added->second.keep = change.keep;
    } else {
      kept_studies_.insert_or_assign(change.study, change);
    }
  }
  void operator()(const SetWeight& change) {
    if (!change.team.empty()) {
      team_weights_.insert_or_assign(change.team, change.weight);
    } else if (const auto added = added_studies_.find(change.study); added != added_studies_.end()) {
      added->second.weight = change.weight;
    } else {
      study_weights_.insert_or_assign(change.study, change.weight);
    }
  }
  void operator()(const RetireStudy& change) {
    const RetiredStudy& as = change.as;
    const auto [kept_nodes, kept_steps] = Columns(as.kept);
    const StepTotals& steps = as.steps;
    retired_.Add(change.study, as.at, as.trials[0], as.trials[1], as.trials[2], as.trials[3], as.trials[4],
                 as.claimed_steps, as.best ? std::optional(as.best->trial) : std::nullopt,
                 as.best ? std::optional(as.best->value) : std::nullopt,
                 as.best ? std::optional(as.best->step) : std::nullopt, steps.unique, steps.trained, steps.re_derived,
                 steps.wasted, steps.reused, steps.wanted, steps.wanted_once, steps.wanted_trained,
                 espalier::Print(steps.claimed_time), espalier::Print(steps.unique_time), as.device_time,
                 as.shared_time, kept_nodes, kept_steps);
  }
  void operator()(const RetireRuns& change) { runs_.Take(change); }
  void operator()(const SetQuota& change) { quotas_.insert_or_assign(change.party, change.quota); }
  void operator()(const AddPlan& change) {
    const Sharing& sharing = change.identity.sharing;
    plan_.Add(change.plan, DigestOf(change.identity), Training(change.identity.training), change.identity.device_kind,
              Name(sharing.scope), sharing.team, sharing.study, sharing.trial);
  }
  void operator()(const AddTrial& change) { added_trials_.insert_or_assign(change.trial.id, change.trial); }
  void operator()(const CloseTrial& change) {
    if (const auto added = added_trials_.find(change.trial); added != added_trials_.end()) {
      added->second.closed = true;
      added->second.cancelled = change.cancelled;
    } else {
      closed_trials_.Add(change.trial, change.cancelled);
    }
  }
  void operator()(const SetLabel& change) {
    if (const auto added = added_trials_.find(change.trial); added != added_trials_.end()) {
      added->second.label = change.label;
    } else {
      labels_.insert_or_assign(change.trial, change.label);
    }
  }
  void operator()(const AddStudyEvent& change) {
    std::visit([&](const auto& event) { AddEvent(change, event); }, change.event);
  }
  void operator()(const AddTrainingMetrics& change) {
    const auto& [names, steps, values] = change.series;
    for (std::size_t name = 0; name < names.size(); ++name) {
      std::vector<double> of_name;
      for (std::size_t at = name; at < values.size(); at += names.size()) of_name.push_back(values[at]);
      training_metrics_.Add(change.node, names[name], steps.front(), steps.back(), steps, of_name);
    }
  }
  void operator()(const AddRequest& change) {
    request_.Add(change.key.first, change.key.second, change.answer.content, change.answer.ids, change.answer.at);
  }

  // In the order in which they are to be executed: what is referred to comes first.
  Result<std::vector<RowSet>> Take(std::set<std::string>& evaluations) {
    std::vector<RowSet> sets;
    TakeRoots(sets);
    ESPALIER_RETURN_IF_ERROR(plans_.TakeNodes(sets));
    TakeTrials(sets);
    plans_.TakeEvaluations(sets, evaluations);
    plans_.TakeClaims(sets);
    runs_.TakeRows(sets);
    plans_.TakePoints(sets);
    sets.push_back(std::move(training_metrics_));
    TakeEvents(sets);
    return sets;
  }

 private:
  // Users and servers, and what the rest refers to: studies, plans and trainers.
  void TakeRoots(std::vector<RowSet>& sets) {
    RowSet user("service_user/set");
    RowSet study("study/insert");
    RowSet closed("study/close");
    RowSet finished("study/finish");
    RowSet kept("study/keep");
    RowSet weighed("study/weigh");
    RowSet team("team/set");
    for (const auto& [name, set] : users_) {
      const auto token = set.token_sha256.empty() ? NoText{} : set.token_sha256;
      user.Add(name, set.team, Name(set.role), token, set.servers);
    }
    RowSet drain("server_drain/set");
    RowSet undrain("server_drain/clear");
    for (const auto& [server, set] : drains_) {
      set ? drain.Add(server, set->by, set->why, set->since) : undrain.Add(server);
    }
    RowSet policy("scheduling_policy/set");
    if (policy_) policy.Add(policy_->name, policy_->by, policy_->at);
    RowSet archive("archive/set");
    RowSet dropped("archive/delete");
    for (const auto& [sha256, set] : archives_) {
      set ? archive.Add(sha256, Bytes{set->bytes}, set->user, set->put_at) : dropped.Add(sha256);
    }
    for (const auto& [id, added] : added_studies_) AddStudyRow(study, added);
    for (const auto& [id, change] : closed_studies_) closed.Add(id, change.cancelled, change.stopped);
    for (const auto& [id, at] : finished_studies_) finished.Add(id, at);
    RowSet kept_by_retired("retired_study/keep");
    for (const auto& [id, change] : kept_studies_) {
      kept.Add(id, Name(change.keep));
      if (!change.kept) continue;
      const auto [nodes, steps] = Columns(*change.kept);
      kept_by_retired.Add(id, nodes, steps);
    }
    for (const auto& [id, weight] : study_weights_) weighed.Add(id, weight);
    for (const auto& [name, weight] : team_weights_) team.Add(name, weight);
    RowSet quota("quota/set");
    RowSet no_quota("quota/clear");
    for (const auto& [party, set] : quotas_) {
      const std::string_view whom = Name(party.kind);
      if (set.empty()) {
        no_quota.Add(whom, party.name);
      } else {
        quota.Add(whom, party.name, set.open_trials, set.plan_nodes, set.stored_bytes, set.device_time);
      }
    }
    for (RowSet* set :
         {&quota,    &no_quota,   &user,    &drain,   &undrain,   &policy, &archive,     &dropped,        &reference_,
          &schema_,  &parameter_, &offer_,  &listed_, &training_, &study,  &undeclared_, &speed_,         &closed,
          &finished, &kept,       &weighed, &team,    &plan_,     &check_, &retired_,    &kept_by_retired}) {
      sets.push_back(std::move(*set));
    }
  }

  void TakeTrials(std::vector<RowSet>& sets) {
    RowSet trial("trial/insert");
    for (const auto& [id, added] : added_trials_) {
      trial.Add(id, added.study, added.plan, added.leaf, added.horizon, added.closed, added.cancelled,
                KeysOf(added.sequences), ValuesOf(added.sequences),
                added.label ? NoText(added.label->policy) : NoText{},
                added.label ? NoText(added.label->text) : NoText{});
    }
    RowSet labelled("trial/label");
    for (const auto& [id, label] : labels_) labelled.Add(id, label.policy, label.text);
    for (RowSet* set : {&trial, &closed_trials_, &labelled}) sets.push_back(std::move(*set));
  }

  void TakeEvents(std::vector<RowSet>& sets) {
    for (RowSet* set : {&event_, &request_}) sets.push_back(std::move(*set));
  }

  static std::pair<std::vector<PlanNodeId>, std::vector<Step>> Columns(const std::vector<KeptState>& kept) {
    std::pair<std::vector<PlanNodeId>, std::vector<Step>> columns;
    for (const KeptState& each : kept) {
      columns.first.push_back(each.point.node);
      columns.second.push_back(each.point.step);
    }
    return columns;
  }

  using None = std::optional<std::int64_t>;
  using NoText = std::optional<std::string>;
  using NoFlag = std::optional<bool>;
  using NoNames = std::optional<std::vector<std::string>>;
  using NoValues = std::optional<std::vector<double>>;

  void AddEvent(const AddStudyEvent& added, const TrialSubmitted& event) {
    event_.Add(added.study, added.number, "trial submitted", event.trial, None{}, None{}, NoText{}, NoFlag{}, NoText{},
               NoNames{}, NoValues{}, None{}, added.at);
  }
  void AddEvent(const AddStudyEvent& added, const ClaimMade& event) {
    event_.Add(added.study, added.number, "claim made", event.trial, event.claim, event.step, NoText{}, NoFlag{},
               NoText{}, NoNames{}, NoValues{}, None{}, added.at);
  }
  void AddEvent(const AddStudyEvent& added, const ClaimSettled& event) {
    NoNames names;
    NoValues values;
    if (event.state == ClaimState::kDone && !added.answered_at_claim) {
      names = KeysOf(event.metrics);
      values = ValuesOf(event.metrics);
    }
    event_.Add(added.study, added.number, "claim settled", event.trial, event.claim, event.step, Name(event.state),
               NoFlag{}, event.message, names, values, None{}, added.at);
  }
  void AddEvent(const AddStudyEvent& added, const TrialClosed& event) {
    event_.Add(added.study, added.number, "trial closed", event.trial, None{}, None{}, NoText{}, event.cancelled,
               NoText{}, NoNames{}, NoValues{}, None{}, added.at);
  }
  void AddEvent(const AddStudyEvent& added, const BatchTaken& event) {
    event_.Add(added.study, added.number, "batch taken", None{}, None{}, None{}, NoText{}, NoFlag{}, NoText{},
               NoNames{}, NoValues{}, event.number, added.at);
  }
  void AddEvent(const AddStudyEvent& added, const SlotIdle&) { AddBareEvent(added, "slot idle"); }
  void AddEvent(const AddStudyEvent& added, const StudyFinished&) { AddBareEvent(added, "study finished"); }
  void AddBareEvent(const AddStudyEvent& added, const char* kind) {
    event_.Add(added.study, added.number, kind, None{}, None{}, None{}, NoText{}, NoFlag{}, NoText{}, NoNames{},
               NoValues{}, None{}, added.at);
  }

  void AddStudyRow(RowSet& set, const Study& study) {
    const StudySpecification& asked = study.specification;
    set.Add(study.id, study.user, study.team, asked.name, asked.trainer, asked.data, asked.step.updates,
            asked.evaluate_every, asked.metric, Name(asked.goal), Name(asked.scope), asked.definition,
            Training(study.training), study.device_kind, study.evaluation, study.metric_names, study.created_at,
            study.finished_at, study.closing, study.cancelled, asked.reference, Name(asked.keep), Name(asked.check),
            asked.hang_after, asked.tuner, asked.asks_for_idle_slots, asked.stop.after, asked.stop.device_time,
            asked.stop.metric, study.stopped, Name(study.keep), study.weight,
            asked.reuse ? std::optional(asked.reuse->study) : std::nullopt,
            asked.reuse ? asked.reuse->until : std::nullopt, asked.policy.may_stop, asked.policy.deadline,
            asked.policy.min_steps, asked.priority, study.first_run);
    for (const auto& [slots, speed] : asked.policy.speeds) speed_.Add(study.id, slots, speed);
    for (const auto& [name, type] : asked.undeclared) undeclared_.Add(study.id, name, Name(type));
  }

  // Sees to it that the schema is stored; its digest.
  Digest128 Parameters(const Schema& schema) {
    const Digest128 digest = DigestOf(schema);
    if (!digests_.insert(digest).second) return digest;
    schema_.Add(digest, schema.takes_any);
    int position = 0;
    for (const HyperParameter& parameter : schema.hyper_parameters) {
      parameter_.Add(digest, position++, parameter.name, Name(parameter.type), espalier::Print(parameter.default_value),
                     parameter.initial);
    }
    return digest;
  }

  Digest128 Training(const TrainingIdentity& training) {
    const Digest128 digest = DigestOf(training);
    if (!digests_.insert(digest).second) return digest;
    training_.Add(digest, training.trainer, training.code_digest, training.data, training.data_digest,
                  training.step.updates, Parameters(training.schema));
    return digest;
  }

  std::set<Digest128> digests_;  // already among the rows
  std::map<std::string, User> users_;
  std::map<std::string, std::optional<Drain>> drains_;  // by server
  std::optional<PolicyChoice> policy_;
  std::map<std::string, std::optional<Archive>> archives_;  // by SHA-256; none: dropped
  std::map<StudyId, Study> added_studies_;
  std::map<StudyId, CloseStudy> closed_studies_;
  std::map<StudyId, Time> finished_studies_;
  std::map<StudyId, SetKeep> kept_studies_;
  std::map<StudyId, double> study_weights_;
  std::map<std::string, double> team_weights_;
  std::map<Party, Quota> quotas_;
  std::map<TrialId, Trial> added_trials_;
  std::map<TrialId, TrialLabel> labels_;  // of trials that were there
  PlanRows plans_;
  RunRows runs_;
  RowSet schema_{"trainer_schema/insert"};
  RowSet parameter_{"hyper_parameter/insert"};
  RowSet training_{"training_identity/insert"};
  RowSet offer_{"offer/insert"};
  RowSet listed_{"offer/list"};
  RowSet reference_{"trainer_reference/insert"};
  RowSet undeclared_{"study_hyper_parameter/insert"};
  RowSet speed_{"study_speed/insert"};
  RowSet plan_{"search_plan/insert"};
  RowSet check_{"trainer_check/insert"};
  RowSet retired_{"retired_study/insert"};
  RowSet closed_trials_{"trial/close"};
  RowSet training_metrics_{"training_metric/insert"};
  RowSet event_{"study_event/insert"};
  RowSet request_{"request/insert"};
};

}  // namespace

Result<std::vector<RowSet>> RowsOf(const StateEdit& edit, std::set<std::string>& evaluations) {
  StateRows rows;
  for (const StateChange& change : edit) std::visit(rows, change);
  ESPALIER_ASSIGN(std::vector<RowSet> sets, rows.Take(evaluations));
  std::erase_if(sets, [](const RowSet& set) { return set.row_count() == 0; });
  for (const RowSet& set : sets) {
    if (set.has_zero_byte()) {
      return MakeError(ErrorCode::kInvalidArgument, "text with a zero byte in it cannot be stored",
                       std::string(set.statement()));
    }
  }
  return sets;
}

}  // namespace espalier::master
