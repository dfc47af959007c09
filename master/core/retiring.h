// Takes studies that have long been finished out of memory (retired_study.h), a little with each tick.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

// The turn of a study comes `retire_after` it is finished, once every run that has served it has ended. What it keeps
// is listed; then it is retired; then memory forgets it. A run leaves after the day on which it was charged last, by
// which quotas count, once its server is there, or has been away for seven days: what that reports later is refused.
// O(kRetiredATick x depth log + runs under way), whatever there is.
void RetireSome(Draft& draft);

// What stays of the study. REQUIRES: all that it keeps has just been listed. O(that).
RetiredStudy RetiredNow(const MasterState& state, StudyId study, Time now);

// Trials, claims, events, runs and the like that are looked at or forgotten.
inline constexpr std::size_t kRetiredATick = 2000;

}  // namespace espalier::master
