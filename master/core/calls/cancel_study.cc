#include "base/key_text.h"
#include "master/core/calls/study_calls.h"
#include "master/core/calls/trial_edits.h"

namespace espalier::master {

Digest128 ContentOf(const Caller& caller, const CancelStudy&) {
  return DigestOf(KeyText("cancel-study-1").Add(caller.user).text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller&, const CancelStudy& call) {
  if (!draft.state().studies.at(call.study).finished_at) CloseStudyWithTrials(draft, call.study, true);
  return std::vector<std::int64_t>();
}

StudyCancelled AnswerOf(const CancelStudy&, const std::vector<std::int64_t>&) { return {}; }

}  // namespace espalier::master
