#include "master/core/views/study_part.h"

#include <algorithm>
#include <utility>

#include "master/core/state/claims.h"
#include "searchplan/plan/plan_edit.h"

namespace espalier::master {
namespace {

class Copier {
 public:
  Copier(const StateReader& read, StudyId study) : read_(read), study_(study) {}

  Result<MasterState> CopyRetired(StudyHistory history) {
    ESPALIER_RETURN_IF_ERROR(read_([&](const MasterState& state) { CopyHead(state); }));
    is_retired_ = true;
    trials_left_ = events_left_ = 0;
    for (const Run& run : history.runs) past_runs_.emplace(run.id, run);
    EnterTrials(history);
    for (auto run = history.runs.begin(); run != history.runs.end();) {
      ESPALIER_RETURN_IF_ERROR(read_([&](const MasterState& state) {
        for (std::size_t i = 0; i < kCopiedATurn && run != history.runs.end(); ++i, ++run) CopyRun(state, *run);
      }));
    }
    while (!open_.empty()) ESPALIER_RETURN_IF_ERROR(read_([&](const MasterState& state) { CopyNodes(state); }));
    ESPALIER_RETURN_IF_ERROR(read_([&](const MasterState& state) { CopyActiveRuns(state); }));
    Assemble();
    ListHistory(history);
    return std::move(part_);
  }

  Result<MasterState> Copy() {
    ESPALIER_RETURN_IF_ERROR(read_([&](const MasterState& state) { CopyHead(state); }));
    while (trials_left_ > 0) ESPALIER_RETURN_IF_ERROR(read_([&](const MasterState& state) { CopyTrials(state); }));
    while (events_left_ > 0) ESPALIER_RETURN_IF_ERROR(read_([&](const MasterState& state) { CopyEvents(state); }));
    while (!open_.empty()) ESPALIER_RETURN_IF_ERROR(read_([&](const MasterState& state) { CopyNodes(state); }));
    ESPALIER_RETURN_IF_ERROR(read_([&](const MasterState& state) { CopyActiveRuns(state); }));
    Assemble();
    return std::move(part_);
  }

 private:
  void CopyHead(const MasterState& state) {
    part_.studies.emplace(study_, state.studies.at(study_));
    trials_left_ = state.trials_by_study.at(study_).size();
    events_left_ = state.events.at(study_).size();
    part_.events[study_];
    part_.trials_by_study[study_];
    for (const auto& [name, server] : state.servers) {
      part_.servers.emplace(name, Server{.name = name,
                                         .incarnation = {},
                                         .devices = server.devices,
                                         .offers = server.offers,
                                         .session = server.session});
    }
  }

  void EnterTrials(const StudyHistory& history) {
    for (const Trial& trial : history.trials) {
      part_.trials_by_study.at(study_).push_back(trial.id);
      part_.trials.emplace(trial.id, trial);
      if (plans_[trial.plan].nodes.try_emplace(trial.leaf).second) open_.emplace_back(trial.plan, trial.leaf);
    }
    std::map<TrialId, std::set<std::pair<Step, ClaimId>>> in_order;
    for (const Claim& claim : history.claims) {
      plans_.at(part_.trials.at(claim.trial).plan).claims.push_back(claim);
      if (!IsForStateAlone(claim)) in_order[claim.trial].emplace(claim.point.step, claim.id);
    }
    for (const auto& [trial, claims] : in_order) {
      for (const auto& [step, claim] : claims) part_.trials.at(trial).claims.push_back(claim);
    }
  }

  // What lists of its trials, runs and events go by.
  void ListHistory(StudyHistory& history) {
    const Study& study = part_.studies.at(study_);
    TrialIndex& index = part_.trial_index[study_];
    for (const StudyEvent& event : history.events) index.Take(event, study);
    part_.events[study_] = std::move(history.events);
    part_.event_times[study_] = std::move(history.event_times);
    for (const Claim& claim : history.claims) part_.plan_by_claim[claim.id] = part_.trials.at(claim.trial).plan;
    for (const Run& run : history.runs) part_.index.runs_of_study[study_].insert(run.id);
  }

  void CopyTrials(const MasterState& state) {
    const std::vector<TrialId>& all = state.trials_by_study.at(study_);
    std::vector<TrialId>& copied = part_.trials_by_study.at(study_);
    for (std::size_t i = 0; i < kCopiedATurn && trials_left_ > 0; ++i, --trials_left_) {
      const Trial& trial = state.trials.at(all.at(copied.size()));
      const SearchPlan& plan = state.plans.at(trial.plan);
      copied.push_back(trial.id);
      part_.trials.emplace(trial.id, trial);
      PlanPart& part = plans_[plan.id];
      if (part.nodes.try_emplace(trial.leaf).second) open_.emplace_back(plan.id, trial.leaf);
      for (const ClaimId id : trial.claims) part.claims.push_back(plan.claims.at(id));
      for (const ClaimId id : StateClaimsOf(state, trial.id)) part.claims.push_back(plan.claims.at(id));
    }
  }

  // When claims were made and settled: no view of a whole study shows more of its events.
  void CopyEvents(const MasterState& state) {
    const std::vector<StudyEvent>& all = state.events.at(study_);
    std::vector<StudyEvent>& copied = part_.events.at(study_);
    for (std::size_t i = 0; i < kCopiedATurn && events_left_ > 0; ++i, --events_left_) {
      const StudyEvent& event = all.at(events_copied_++);
      if (std::holds_alternative<ClaimMade>(event)) copied.push_back(event);
      const auto* settled = std::get_if<ClaimSettled>(&event);
      if (settled == nullptr) continue;
      copied.emplace_back(ClaimSettled{settled->claim, settled->trial, settled->step, settled->state, {}, {}});
    }
  }

  // And their ancestors.
  void CopyNodes(const MasterState& state) {
    for (std::size_t copied = 0; copied < kCopiedATurn && !open_.empty();) {
      const auto [plan_id, id] = open_.back();
      open_.pop_back();
      const SearchPlan& plan = state.plans.at(plan_id);
      PlanPart& part = plans_.at(plan_id);
      if (part.head.id != plan_id) {
        part.head = {.id = plan_id, .identity = plan.identity, .trainer = plan.trainer, .cost_key = plan.cost_key};
      }
      const PlanNode& node = plan.Node(id);
      if (const auto origin = plan.origins.find(id); origin != plan.origins.end()) {
        part.head.origins.insert(*origin);
        SearchPlan& begun_with = part_.plans[origin->second.plan];  // what it is, no more
        begun_with.id = origin->second.plan;
        begun_with.identity = state.plans.at(begun_with.id).identity;
      }
      copied += 1 + CountOf(*node.results) / 4;
      part.nodes[id] = {.id = id,
                        .parent = node.parent,
                        .start = node.start,
                        .configuration = node.configuration,
                        .lineage = node.lineage,
                        .children = {},
                        .results = is_retired_ ? *node.results : ShownOf(*node.results)};
      for (const TrainedRange& range : node.results->trained) CopyRunOf(state, range.run);
      if (node.parent && part.nodes.try_emplace(*node.parent).second) open_.emplace_back(plan_id, *node.parent);
    }
  }

  static std::size_t CountOf(const NodeResults& results) {
    return results.checkpoints.size() + results.metrics.size() + results.trained.size();
  }

  // Without what no view of a whole study shows: logs of attempts, for one, are long.
  static NodeResults ShownOf(const NodeResults& results) {
    return {.checkpoints = results.checkpoints,
            .state_digests = {},
            .metrics = results.metrics,
            .failures = results.failures,
            .evaluation_failures = {},
            .attempts = {},
            .trained = results.trained,
            .measurements = results.measurements};
  }

  void CopyActiveRuns(const MasterState& state) {
    for (const RunId id : state.active_runs) {
      const Run& run = state.runs.at(id);
      const auto part = plans_.find(run.plan);
      if (part == plans_.end()) continue;
      part_.runs.erase(id);
      CopyRun(state, run);
      std::erase_if(part_.runs.at(id).path,
                    [&](const PathStage& stage) { return !part->second.nodes.contains(stage.node); });
      part_.active_runs.insert(id);
    }
    for (const auto& [id, part] : plans_) {
      const auto costs = state.costs.find(part.head.cost_key);
      if (costs != state.costs.end()) part_.costs.emplace(*costs);
    }
  }

  // Nothing of one that has left memory, and served others.
  void CopyRunOf(const MasterState& state, RunId id) {
    if (const auto run = state.runs.find(id); run != state.runs.end()) return CopyRun(state, run->second);
    if (const auto run = past_runs_.find(id); run != past_runs_.end()) CopyRun(state, run->second);
  }

  void CopyRun(const MasterState& state, const Run& run) {
    const auto [copied, is_new] = part_.runs.emplace(run.id, run);
    if (!is_new) return;
    const std::string& team = part_.studies.at(study_).team;
    const auto is_others = [&](StudyId id) { return state.studies.at(id).team != team; };
    std::erase_if(copied->second.serves, is_others);
    std::erase_if(copied->second.charges, [&](const auto& charge) { return is_others(charge.first); });
    for (const auto& [id, charged] : copied->second.charges) CopyStudyHead(state.studies.at(id));
  }

  void CopyStudyHead(const Study& study) {
    const auto [copied, is_new] = part_.studies.try_emplace(study.id);
    if (!is_new) return;
    copied->second.id = study.id;
    copied->second.user = study.user;
    copied->second.team = study.team;
  }

  // Beside the event loop.
  void Assemble() {
    for (auto& [id, part] : plans_) {
      SearchPlan& plan = part_.plans.insert_or_assign(id, std::move(part.head)).first->second;
      for (auto& [node_id, node] : part.nodes) {
        const std::optional<PlanNodeId> parent = node.parent;
        plan.nodes.Add(std::move(node));
        (parent ? plan.nodes.at(*parent).children : plan.roots).push_back(node_id);
      }
      for (const Claim& claim : part.claims) Apply(plan, AddClaim{claim});
    }
  }

  struct PlanPart {
    SearchPlan head;  // without nodes and claims
    std::map<PlanNodeId, PlanNode> nodes;
    std::vector<Claim> claims;
  };

  const StateReader& read_;
  const StudyId study_;
  MasterState part_;
  bool is_retired_ = false;
  std::size_t trials_left_ = 0;
  std::size_t events_copied_ = 0;
  std::size_t events_left_ = 0;
  std::map<RunId, Run> past_runs_;  // that have served the study, where it is retired
  std::map<PlanId, PlanPart> plans_;
  std::vector<std::pair<PlanId, PlanNodeId>> open_;  // nodes to be copied
};

}  // namespace

Result<MasterState> CopyStudy(const StateReader& read, StudyId study) { return Copier(read, study).Copy(); }

Result<MasterState> CopyRetiredStudy(const StateReader& read, StudyId study, StudyHistory history) {
  return Copier(read, study).CopyRetired(std::move(history));
}

}  // namespace espalier::master
