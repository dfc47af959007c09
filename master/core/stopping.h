// Studies that end before their tuners do (StopRule).
#pragma once

#include "base/study_event.h"
#include "master/core/draft.h"

namespace espalier::master {

// Notes whether what was settled is what the study is to stop at.
void NoteReached(Draft& draft, const Study& study, const ClaimSettled& settled);

// Notes which studies have had their time. O(running studies with limits of time x runs under way).
void NoteTimesUp(Draft& draft);

// Of the noted studies: cancels what waits, closes every trial. What was settled stays, and the study ends as any other
// once its states are stored. O(their trials).
void StopStudies(Draft& draft);

}  // namespace espalier::master
