#include <sstream>

#include "master/core/state/state_edit.h"

namespace espalier::master {
namespace {

struct Printer {
  std::ostream& out;

  void operator()(const AddOffer& change) const {
    out << "add offer " << change.offer.offer.trainer << " data=" << change.offer.offer.data;
  }
  void operator()(const ListOffer& change) const { out << "list offer " << ToHex(change.offer); }
  void operator()(const AddStudy& change) const {
    out << "add study " << change.study.id.value << " name=" << change.study.specification.name;
  }
  void operator()(const CloseStudy& change) const {
    out << (change.cancelled ? "cancel" : "close") << " study " << change.study.value;
    if (!change.stopped.empty()) out << ": " << change.stopped;
  }
  void operator()(const FinishStudy& change) const { out << "finish study " << change.study.value; }
  void operator()(const RetireStudy& change) const { out << "retire study " << change.study.value; }
  void operator()(const RetireRuns& change) const {
    out << "retire runs";
    for (const RunId run : change.runs) out << " " << run.value;
  }
  void operator()(const PutOffRetirement& change) const { out << "put off retirement of study " << change.study.value; }
  void operator()(const PutOffLeaving& change) const { out << "run " << change.run.value << " leaves later"; }
  void operator()(const ListKept& change) const {
    out << "list what study " << change.study.value << " keeps, " << change.count << " more";
  }
  void operator()(const ForgetRequests& change) const { out << "forget " << change.count << " old requests"; }
  void operator()(const ForgetSome& change) const {
    out << "forget of study " << change.study.value << " " << change.count << " of each kind";
  }
  void operator()(const SetKeep& change) const {
    out << "study " << change.study.value << " keeps " << Name(change.keep);
  }
  void operator()(const AddPlan& change) const {
    out << "add plan " << change.plan.value << " scope=" << Name(change.identity.sharing.scope);
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
  void operator()(const AddTrainingMetrics& change) const {
    out << "add training metrics of node " << change.node.value << " steps=" << change.series.steps.size();
  }
  void operator()(const AddRun& change) const {
    out << "add run " << change.run.id.value << " plan=" << change.run.plan.value << " slot=" << change.run.slot.server
        << "/" << change.run.slot.index;
  }
  void operator()(const MakePromise& change) const {
    out << "run " << change.run.value << " promises " << Name(change.promise.owed) << " at "
        << change.promise.step.value << " promise=" << change.promise.id.value;
  }
  void operator()(const SettlePromise& change) const {
    out << "settle promise " << change.promise.value << " run=" << change.run.value << " " << Name(change.state);
  }
  void operator()(const SetTerms& change) const {
    out << "set terms run=" << change.run.value << " generation=" << change.generation
        << (change.preempt ? " preempt" : "");
  }
  void operator()(const SetRunFailed& change) const { out << "run " << change.run.value << " failed"; }
  void operator()(const ChargeRun& change) const {
    out << "charge run " << change.run.value;
    for (const auto& [study, microseconds] : change.microseconds) out << " " << study.value << ":" << microseconds;
  }
  void operator()(const SetRunState& change) const {
    out << "set run " << change.run.value << " " << Name(change.state);
  }
  void operator()(const AddRequest& change) const { out << "add request " << change.key.second; }
  void operator()(const SetUser& change) const {
    out << "set user " << change.user.name << " team=" << change.user.team;
  }
  void operator()(const AddArchive& change) const {
    out << "add archive " << change.sha256 << " bytes=" << change.archive.bytes.size();
  }
  void operator()(const DropArchive& change) const { out << "drop archive " << change.sha256; }
  void operator()(const AddReference& change) const {
    out << "add reference " << ToHex(DigestOf(change.reference)) << " " << change.reference.entry;
  }
  void operator()(const SetWeight& change) const {
    out << "set weight " << change.weight << " team=" << change.team << " study=" << change.study.value;
  }
  void operator()(const SetQuota& change) const {
    const Quota& quota = change.quota;
    out << "limit " << PartyName(change.party);
    if (quota.open_trials) out << " open_trials=" << *quota.open_trials;
    if (quota.plan_nodes) out << " plan_nodes=" << *quota.plan_nodes;
    if (quota.stored_bytes) out << " stored_bytes=" << *quota.stored_bytes;
    if (quota.device_time) out << " device_seconds=" << quota.device_time->count();
  }
  void operator()(const WantRoom& change) const {
    out << "run " << change.run.value << " wants room for " << change.bytes << " bytes";
  }
  void operator()(const SetStopped& change) const {
    out << (change.by ? "stop " : "let go on ") << PartyName(change.party);
  }
  void operator()(const SetDrain& change) const {
    out << (change.drain ? "drain" : "use") << " server " << change.server;
  }
  void operator()(const SetLabel& change) const {
    out << "label trial " << change.trial.value << " policy=" << change.label.policy << ": " << change.label.text;
  }
  void operator()(const SetPolicy& change) const { out << "decide by policy " << change.choice.name; }
  void operator()(const AskReference& change) const { out << "ask for reference " << ToHex(change.reference); }
  void operator()(const ForgetAsk& change) const { out << "nobody asks for reference " << ToHex(change.reference); }
  void operator()(const BeginAnalysis& change) const {
    out << "analyse the curve of trial " << change.trial.value << " to step " << change.at.step.value;
  }
  void operator()(const EndAnalysis& change) const {
    out << "the curve of trial " << change.trial.value << " to step " << change.at.step.value << " is analysed";
  }
  void operator()(const AddCheckFinding& change) const {
    out << "trainer " << ToHex(change.key.trainer) << " was checked: " << Name(change.finding.outcome);
  }
  void operator()(const PlaceCheck& change) const {
    out << "check trainer " << ToHex(change.key.trainer) << " slot=" << change.place.slot.server << "/"
        << change.place.slot.index;
  }
  void operator()(const EndCheck& change) const { out << "end check of trainer " << ToHex(change.key.trainer); }
  void operator()(const SetServer& change) const { out << "set server " << change.server.name; }
  void operator()(const RemoveServer& change) const { out << "remove server " << change.name; }
  void operator()(const SetPosition& change) const { out << "run " << change.run.value << " at " << change.at.value; }
  void operator()(const RestartLeases&) const { out << "leases start afresh"; }
  void operator()(const SetRefusal& change) const {
    out << "server " << change.server << " refuses what begins at node " << change.stage.first.node.value << " step "
        << change.stage.first.step.value << " count=" << change.refusal.count;
  }
  void operator()(const ForgetRefusals& change) const {
    out << "forget who refused what begins at node " << change.stage.first.node.value << " step "
        << change.stage.first.step.value;
  }
};

}  // namespace

std::string Print(const StateChange& change) {
  std::ostringstream out;
  std::visit(Printer{out}, change);
  return out.str();
}

}  // namespace espalier::master
