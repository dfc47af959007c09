#include "master/core/calls/answer_once.h"

#include "base/text.h"
#include "master/core/calls/code_calls.h"
#include "master/core/calls/quota_calls.h"
#include "master/core/calls/server_calls.h"
#include "master/core/calls/study_calls.h"
#include "master/core/calls/user_calls.h"
#include "master/core/calls/weight_calls.h"
#include "master/core/state/stored_text.h"

namespace espalier::master {
namespace {

Result<void> CheckRequestId(const std::string& request_id) {
  if (!request_id.empty() && request_id.size() <= kRequestIdBytesMax && IsValidText(request_id)) return {};
  return MakeError(ErrorCode::kInvalidArgument, "a request id has 1 to 100 bytes, UTF-8 without zero bytes",
                   "request_id");
}

// Requests that change a study are numbered within it, and are its user's alone; others are numbered by their users.
template <class What>
Result<RequestKey> KeyOf(const MasterState& state, const ClientCall& call, const What& what) {
  if constexpr (requires { what.study; }) {
    ESPALIER_RETURN_IF_ERROR(FindOwnStudy(state, what.study, call.caller));
    return RequestKey{what.study, call.request_id};
  } else {
    return RequestKey{StudyId{0}, call.caller.user + "/" + call.request_id};
  }
}

// Whether memory lacks what the call is about, or whether it was answered before, and nobody has looked it up.
template <class What>
bool NeedsHistory(const MasterState& state, const ClientCall& call, const What& what) {
  if (call.recalled) return false;
  if constexpr (requires { what.study; }) {
    return FindOwnStudy(state, what.study, call.caller).has_value() && IsRetired(state, what.study);
  } else if constexpr (requires { what.trial; }) {
    return !state.retired.empty() && !state.trials.contains(what.trial) && what.trial < state.next.trial;
  } else {
    return false;
  }
}

// The ids that the request produced, now or when it came first.
template <class What>
Result<std::vector<std::int64_t>> PerformOnce(Draft& draft, const ClientCall& call, const What& what) {
  ESPALIER_RETURN_IF_ERROR(CheckRequestId(call.request_id));
  ESPALIER_ASSIGN(const RequestKey key, KeyOf(draft.state(), call, what));
  const Digest128 content = ContentOf(call.caller, what);
  const AnsweredRequest* answered = call.recalled && call.recalled->answer ? &*call.recalled->answer : nullptr;
  const auto known = draft.state().requests.find(key);
  if (known != draft.state().requests.end()) answered = &known->second;
  if (answered != nullptr) {
    if (answered->content == content) return answered->ids;
    return MakeError(ErrorCode::kAlreadyExists, "request '" + key.second + "' came before with other content",
                     "request_id");
  }
  ESPALIER_ASSIGN(std::vector<std::int64_t> ids, Perform(draft, call.caller, what));
  draft.Do(AddRequest{key, {content, ids, draft.now}});
  return ids;
}

}  // namespace

void AnswerOnce(Draft& draft, const ClientCall& call) {
  std::visit(
      [&](const auto& what) {
        if (NeedsHistory(draft.state(), call, what)) return draft.Emit(Reply{call.call, HistoryNeeded{}});
        const auto ids = PerformOnce(draft, call, what);
        draft.Emit(Reply{call.call, ids.has_value() ? Answer(AnswerOf(what, *ids)) : Answer(ids.error())});
      },
      call.what);
}

}  // namespace espalier::master
