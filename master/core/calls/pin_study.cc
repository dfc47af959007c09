#include "base/key_text.h"
#include "master/core/calls/study_calls.h"

namespace espalier::master {

Digest128 ContentOf(const Caller& caller, const PinStudy& call) {
  return DigestOf(KeyText("pin-study-1").Add(caller.user).Add(Name(call.keep)).text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller&, const PinStudy& call) {
  if (draft.state().studies.at(call.study).keep != call.keep) {
    draft.Do(SetKeep{call.study, call.keep, call.recalled});
  }
  return std::vector<std::int64_t>();
}

StudyPinned AnswerOf(const PinStudy&, const std::vector<std::int64_t>&) { return {}; }

}  // namespace espalier::master
