#include "master/core/reactor.h"

#include "master/core/draft.h"
#include "master/core/node_messages.h"
#include "master/core/ordering.h"
#include "master/core/settling.h"
#include "master/core/study_calls.h"
#include "master/core/user_calls.h"

namespace espalier {
namespace {

struct Dispatcher {
  Draft& draft;
  void operator()(const CreateStudyCall& call) const { OnCreateStudy(draft, call); }
  void operator()(const SubmitCall& call) const { OnSubmit(draft, call); }
  void operator()(const CancelStudyCall& call) const { OnCancelStudy(draft, call); }
  void operator()(const ContinueTrialCall& call) const { OnContinueTrial(draft, call); }
  void operator()(const AddUserCall& call) const { OnAddUser(draft, call); }
  void operator()(const RemoveUserCall& call) const { OnRemoveUser(draft, call); }
  void operator()(const NodeMessage& message) const { OnNodeMessage(draft, message); }
  void operator()(const NodeGone& gone) const { OnNodeGone(draft, gone); }
  void operator()(const Tick&) const { OnTick(draft); }
  void operator()(const Recovered&) const { OnRecovered(draft); }
};

}  // namespace

Transition React(MasterState& state, const Event& event, const Policy& policy, const ReactorSettings& settings,
                 Time now) {
  Draft draft(state, policy, settings, now);
  std::visit(Dispatcher{draft}, event);
  SettleTouched(draft);
  OrderRuns(draft);
  TellServers(draft);
  return std::move(draft).Finish();
}

}  // namespace espalier
