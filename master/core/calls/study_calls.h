// What clients ask for: studies, trials, claims. ContentOf, Perform and AnswerOf are as calls/answer_once.h says;
// errors of Perform name the field.
#pragma once

#include <cstdint>
#include <vector>

#include "master/core/draft.h"

namespace espalier::master {

// Creates a study of the caller's, or attaches to the running one of that name and content. Any member may call.
// Errors: as PlanStudy; kAlreadyExists when a running study of that name has other content; kNotFound for a reference
// of another team. O(running studies + offers + servers).
Digest128 ContentOf(const Caller& caller, const CreateStudy& call);
Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const CreateStudy& call);
StudyCreated AnswerOf(const CreateStudy& call, const std::vector<std::int64_t>& ids);

// Enters trials and claims, closes and cancels trials: all of it or nothing. The study's user may call. REQUIRES: the
// study is the caller's own. Errors: kInvalidArgument; kNotFound for a trial of another study; kFailedPrecondition when
// the study or a trial takes no more; kResourceExhausted over a limit. O(joint segments and claims of the batch x
// depth); with `finish` also O(trials of the study).
Digest128 ContentOf(const Caller& caller, const SubmitBatch& call);
Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const SubmitBatch& call);
Submitted AnswerOf(const SubmitBatch& call, const std::vector<std::int64_t>& ids);

// Cancels every open trial and waiting claim of the study, and closes it; nothing if it is finished. The study's user
// may call. REQUIRES: the study is the caller's own. No errors. O(trials and claims of the study x depth).
Digest128 ContentOf(const Caller& caller, const CancelStudy& call);
Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const CancelStudy& call);
StudyCancelled AnswerOf(const CancelStudy& call, const std::vector<std::int64_t>& ids);

// Which of the study's states are never evicted from now on; it may be finished. The study's user may call. REQUIRES:
// the study is the caller's own. No errors. O(events of the study log).
Digest128 ContentOf(const Caller& caller, const PinStudy& call);
Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const PinStudy& call);
StudyPinned AnswerOf(const PinStudy& call, const std::vector<std::int64_t>& ids);

// Goes on from a trial in a new study of one, in the trial's plan. Any member may call whose team's trial it is.
// Errors: kInvalidArgument; kNotFound; kAlreadyExists when a study of that name runs; kFailedPrecondition when the
// trainer is another one by now. O(running studies + joint segments x depth).
Digest128 ContentOf(const Caller& caller, const ContinueTrial& call);
Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const ContinueTrial& call);
TrialContinued AnswerOf(const ContinueTrial& call, const std::vector<std::int64_t>& ids);

// Tries a stage again that failed, pauses or is held: clears what failed training or evaluations at the point, what was
// counted on the stage, and its pause. Trials of running studies that it failed get new claims at the same points; the
// old claims stay failed. Whoever has a trial that it fails, or that waits for it, may call. Errors: kNotFound when the
// caller knows of no such stage; kFailedPrecondition when nothing failed there (naming what fails it elsewhere), when
// training diverged or was finished there, which is a result, or when no trial of the caller's is concerned. O(plans
// log nodes + failed claims of the plan x depth + places below the stage).
Digest128 ContentOf(const Caller& caller, const RetryStage& call);
Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const RetryStage& call);
StageRetried AnswerOf(const RetryStage& call, const std::vector<std::int64_t>& ids);

// Error: kFailedPrecondition where the study's trainer has failed its check, with what differs.
Result<void> CheckMayTrain(const MasterState& state, const Study& study);

// Whether a study could be created from this, and with which identity. Error: kInvalidArgument with the field;
// kUnavailable as long as no server that could train it is connected; kFailedPrecondition when none offers it by its
// reference.
Result<Study> PlanStudy(const MasterState& state, const StudySpecification& specification);

// The same for a forecast: the device kind is left empty if no server that could train it is connected; a trainer that
// nobody has registered declares nothing and takes any hyper-parameters, if the specification says their types.
Result<Study> PlanForecast(const MasterState& state, const StudySpecification& specification);

}  // namespace espalier::master
