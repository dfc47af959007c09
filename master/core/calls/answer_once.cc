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

// The ids that the request produced, now or when it came first.
template <class What>
Result<std::vector<std::int64_t>> PerformOnce(Draft& draft, const ClientCall& call, const What& what) {
  ESPALIER_RETURN_IF_ERROR(CheckRequestId(call.request_id));
  ESPALIER_ASSIGN(const RequestKey key, KeyOf(draft.state(), call, what));
  const Digest128 content = ContentOf(call.caller, what);
  const auto answered = draft.state().requests.find(key);
  if (answered != draft.state().requests.end()) {
    if (answered->second.content == content) return answered->second.ids;
    return MakeError(ErrorCode::kAlreadyExists, "request '" + key.second + "' came before with other content",
                     "request_id");
  }
  ESPALIER_ASSIGN(std::vector<std::int64_t> ids, Perform(draft, call.caller, what));
  draft.Do(AddRequest{key, {content, ids}});
  return ids;
}

}  // namespace

void AnswerOnce(Draft& draft, const ClientCall& call) {
  std::visit(
      [&](const auto& what) {
        const auto ids = PerformOnce(draft, call, what);
        draft.Emit(Reply{call.call, ids.has_value() ? Answer(AnswerOf(what, *ids)) : Answer(ids.error())});
      },
      call.what);
}

}  // namespace espalier::master
