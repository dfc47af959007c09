#include "master/core/state/state_edit.h"

#include <algorithm>
#include <sstream>

#include "base/check.h"

namespace espalier::master {
namespace {

template <class Key, class Value>
Value& Existing(std::map<Key, Value>& map, const Key& key, const char* what) {
  const auto it = map.find(key);
  ESPALIER_CHECK(it != map.end()) << "no such " << what;
  return it->second;
}

template <class Key, class Value>
void AddNew(std::map<Key, Value>& map, const Key& key, Value value, const char* what) {
  ESPALIER_CHECK(map.emplace(key, std::move(value)).second) << what << " exists";
}

template <class Tag>
void Count(Id<Tag>& next, Id<Tag> used) {
  next.value = std::max(next.value, used.value + 1);
}

struct Applier {
  MasterState& state;

  void operator()(const SetTrainer& change) const {
    state.trainers.insert_or_assign({change.trainer.name, change.trainer.data}, change.trainer);
  }

  void operator()(const AddStudy& change) const {
    AddNew(state.studies, change.study.id, change.study, "study");
    state.running_studies.insert(change.study.id);
    state.events[change.study.id];
    state.trials_by_study[change.study.id];
    state.trial_index[change.study.id];
    Count(state.next.study, change.study.id);
  }

  void operator()(const CloseStudy& change) const { Existing(state.studies, change.study, "study").closing = true; }

  void operator()(const FinishStudy& change) const {
    Study& study = Existing(state.studies, change.study, "study");
    ESPALIER_CHECK(!study.finished_at) << "study " << change.study.value << " is finished";
    study.finished_at = change.at;
    state.running_studies.erase(change.study);
  }

  void operator()(const AddPlan& change) const {
    AddNew(state.plans, change.plan, SearchPlan{.id = change.plan, .identity = change.identity}, "plan");
    AddNew(state.plan_by_identity, DigestOf(change.identity), change.plan, "plan of that identity");
    Count(state.next.plan, change.plan);
  }

  void operator()(const ChangePlan& change) const {
    Apply(Existing(state.plans, change.plan, "plan"), change.change);
    if (const auto* node = std::get_if<AddPlanNode>(&change.change)) Count(state.next.plan_node, node->id);
    if (const auto* added = std::get_if<AddClaim>(&change.change)) {
      const Claim& claim = added->claim;
      Existing(state.trials, claim.trial, "trial").claims.push_back(claim.id);
      AddNew(state.plan_by_claim, claim.id, change.plan, "claim");
      Count(state.next.claim, claim.id);
    }
  }

  void operator()(const AddTrial& change) const {
    AddNew(state.trials, change.trial.id, change.trial, "trial");
    state.trials_by_study[change.trial.study].push_back(change.trial.id);
    if (!change.trial.closed) state.open_trials[change.trial.plan].insert(change.trial.id);
    Count(state.next.trial, change.trial.id);
  }

  void operator()(const CloseTrial& change) const {
    Trial& trial = Existing(state.trials, change.trial, "trial");
    ESPALIER_CHECK(!trial.closed) << "trial " << change.trial.value << " is closed";
    trial.closed = true;
    trial.cancelled = change.cancelled;
    std::set<TrialId>& open = Existing(state.open_trials, trial.plan, "open trial of that plan");
    open.erase(trial.id);
    if (open.empty()) state.open_trials.erase(trial.plan);
  }

  void operator()(const AddStudyEvent& change) const {
    std::vector<StudyEvent>& events = state.events[change.study];
    ESPALIER_CHECK(change.number == static_cast<std::int64_t>(events.size()) + 1) << "event numbers have no gaps";
    events.push_back(change.event);
    state.trial_index[change.study].Take(change.event, Existing(state.studies, change.study, "study"));
  }

  void operator()(const AddRun& change) const {
    AddNew(state.runs, change.run.id, change.run, "run");
    SortPromises(state.runs.at(change.run.id));
    if (change.run.state != RunState::kEnded) state.active_runs.insert(change.run.id);
    Count(state.next.run, change.run.id);
  }

  void operator()(const SetTargets& change) const {
    Run& run = Existing(state.runs, change.run, "run");
    run.generation = change.generation;
    std::vector<Target> added = change.targets;
    for (Promise& promise : run.promises) {
      if (promise.state != PromiseState::kOpen) continue;
      const auto kept = std::find(added.begin(), added.end(), promise.target);
      if (kept != added.end()) {
        added.erase(kept);
      } else {
        promise.state = PromiseState::kWithdrawn;
        promise.settled_at = change.at;
      }
    }
    for (const Target& target : added) run.promises.push_back({.target = target, .made_at = change.at});
    SortPromises(run);
  }

  void operator()(const SetPreempt& change) const {
    Run& run = Existing(state.runs, change.run, "run");
    run.generation = change.generation;
    run.preempt = true;
  }

  void operator()(const SettlePromise& change) const {
    Run& run = Existing(state.runs, change.run, "run");
    for (Promise& promise : run.promises) {
      if (promise.state != PromiseState::kOpen || promise.target.step != change.step) continue;
      promise.state = change.state;
      promise.settled_at = change.at;
      SortPromises(run);
      return;
    }
    ESPALIER_CHECK(false) << "run " << change.run.value << " has no open promise at step " << change.step.value;
  }

  void operator()(const SetRunState& change) const {
    Run& run = Existing(state.runs, change.run, "run");
    run.state = change.state;
    run.slot_seconds = change.slot_seconds;
    if (run.state == RunState::kEnded) state.active_runs.erase(run.id);
  }

  void operator()(const AddRequest& change) const { AddNew(state.requests, change.key, change.answer, "request"); }
  void operator()(const SetUser& change) const { state.users.insert_or_assign(change.user.name, change.user); }
  void operator()(const SetServer& change) const { state.servers.insert_or_assign(change.server.name, change.server); }
  void operator()(const RemoveServer& change) const { state.servers.erase(change.name); }
  void operator()(const SetPosition& change) const { Existing(state.runs, change.run, "run").at = change.at; }
  void operator()(const RestartLeases& change) const { state.leases_from = change.from; }

  // The order that the database, which keeps none, gives back.
  static void SortPromises(Run& run) {
    std::sort(run.promises.begin(), run.promises.end(), [](const Promise& a, const Promise& b) {
      const auto key = [](const Promise& promise) {
        return std::tuple(promise.target.step, promise.state == PromiseState::kOpen, promise.made_at,
                          promise.target.evaluate, promise.target.save, promise.settled_at, promise.state);
      };
      return key(a) < key(b);
    });
  }
};

struct Printer {
  std::ostream& out;

  void operator()(const SetTrainer& change) const {
    out << "set trainer " << change.trainer.name << " data=" << change.trainer.data;
  }
  void operator()(const AddStudy& change) const {
    out << "add study " << change.study.id.value << " name=" << change.study.specification.name;
  }
  void operator()(const CloseStudy& change) const { out << "close study " << change.study.value; }
  void operator()(const FinishStudy& change) const { out << "finish study " << change.study.value; }
  void operator()(const AddPlan& change) const {
    out << "add plan " << change.plan.value << " scope=" << change.identity.scope;
  }
  void operator()(const ChangePlan& change) const {
    out << "plan " << change.plan.value << ": " << Print(change.change);
  }
  void operator()(const AddTrial& change) const {
    out << "add trial " << change.trial.id.value << " study=" << change.trial.study.value;
  }
  void operator()(const CloseTrial& change) const {
    out << (change.cancelled ? "cancel" : "close") << " trial " << change.trial.value;
  }
  void operator()(const AddStudyEvent& change) const {
    out << "add event " << change.number << " study=" << change.study.value;
  }
  void operator()(const AddRun& change) const {
    out << "add run " << change.run.id.value << " plan=" << change.run.plan.value << " slot=" << change.run.slot.server
        << "/" << change.run.slot.index;
  }
  void operator()(const SetTargets& change) const {
    out << "set targets run=" << change.run.value << " generation=" << change.generation;
    for (const Target& target : change.targets) out << " " << target.step.value;
  }
  void operator()(const SetPreempt& change) const { out << "preempt run " << change.run.value; }
  void operator()(const SettlePromise& change) const {
    out << "settle promise run=" << change.run.value << " step=" << change.step.value << " " << Name(change.state);
  }
  void operator()(const SetRunState& change) const {
    out << "set run " << change.run.value << " " << Name(change.state);
  }
  void operator()(const AddRequest& change) const { out << "add request " << change.key.second; }
  void operator()(const SetUser& change) const {
    out << "set user " << change.user.name << " team=" << change.user.team;
  }
  void operator()(const SetServer& change) const { out << "set server " << change.server.name; }
  void operator()(const RemoveServer& change) const { out << "remove server " << change.name; }
  void operator()(const SetPosition& change) const { out << "run " << change.run.value << " at " << change.at.value; }
  void operator()(const RestartLeases&) const { out << "leases start afresh"; }
};

}  // namespace

bool IsStored(const StateChange& change) {
  return !std::holds_alternative<SetServer>(change) && !std::holds_alternative<RemoveServer>(change) &&
         !std::holds_alternative<SetPosition>(change) && !std::holds_alternative<RestartLeases>(change);
}

void Apply(MasterState& state, const StateChange& change) { std::visit(Applier{state}, change); }

std::string Print(const StateChange& change) {
  std::ostringstream out;
  std::visit(Printer{out}, change);
  return out.str();
}

}  // namespace espalier::master
