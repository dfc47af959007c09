#include "master/core/calls/server_calls.h"

#include "base/key_text.h"
#include "master/core/nodes/runs.h"
#include "master/core/state/stored_text.h"

namespace espalier::master {
namespace {

// A run that only evaluates cannot be cut, and is short.
void PreemptRunsOf(Draft& draft, const std::string& server) {
  const std::set<RunId> active = ActiveRunsOf(draft.state(), server);
  for (const RunId id : active) {
    const Run& run = draft.state().runs.at(id);
    if (run.training() && !run.preempt && !run.path.empty()) Preempt(draft, id);
  }
}

}  // namespace

Digest128 ContentOf(const Caller&, const DrainServer& call) {
  return DigestOf(KeyText("drain-server-1").Add(call.server).Add(call.off ? "off" : "on").Add(call.why).text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const DrainServer& call) {
  const MasterState& state = draft.state();
  if (!state.servers.contains(call.server) && !state.drains.contains(call.server)) {
    return MakeError(ErrorCode::kNotFound,
                     "there is no server '" + call.server + "'; `espalier server list` shows those that there are",
                     "server");
  }
  ESPALIER_RETURN_IF_ERROR(CheckText(call.why, kNameBytesMax, "why"));
  if (call.off) {
    draft.Log(LogLevel::kInfo, "server drained no more", {{"name", call.server}, {"by", caller.user}});
    draft.Do(SetDrain{call.server, std::nullopt});
  } else {
    draft.Log(LogLevel::kInfo, "server drained", {{"name", call.server}, {"by", caller.user}, {"why", call.why}});
    draft.Do(SetDrain{call.server, Drain{.by = caller.user, .why = call.why, .since = draft.now}});
    PreemptRunsOf(draft, call.server);
  }
  return std::vector<std::int64_t>{static_cast<std::int64_t>(ActiveRunsOf(state, call.server).size())};
}

ServerDrained AnswerOf(const DrainServer&, const std::vector<std::int64_t>& ids) { return {.run_count = ids.at(0)}; }

Digest128 ContentOf(const Caller&, const ChoosePolicy& call) {
  return DigestOf(KeyText("choose-policy-1").Add(call.name).text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const ChoosePolicy& call) {
  ESPALIER_ASSIGN(std::string name, ParsePolicyName(call.name));
  if (name == draft.state().policy.name) return std::vector<std::int64_t>{};
  draft.Log(LogLevel::kInfo, "policy chosen", {{"name", name}, {"by", caller.user}});
  draft.Do(SetPolicy{{.name = std::move(name), .by = caller.user, .at = draft.now}});
  return std::vector<std::int64_t>{};
}

PolicyChosen AnswerOf(const ChoosePolicy&, const std::vector<std::int64_t>&) { return {}; }

}  // namespace espalier::master
