// The tuners that there are, by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/tuners/tuner.h"
#include "client/tuners/tuner_kind.h"

namespace espalier::tuners {

// Sorted by name.
const std::vector<TunerKind>& TunerKinds();

// Of the tuner called `name`; 0: there is none.
std::int64_t VersionOf(const std::string& name);

// Of the tuner called `name`; kEither: there is none.
CandidateSource CandidatesOf(const std::string& name);

// The only method by which the tuner called `name` draws; none: any, or there is no such tuner.
std::optional<SamplingMethod> SamplingOf(const std::string& name);

// Whether the tuner called `name` can start trials as slots become idle: of one that does, nobody has to say how many.
bool MayGoOnUntilStopped(const std::string& name);

// Makes the tuner called `name` over the trials, in their order of submission.
// Error: kInvalidArgument for an unknown tuner (field empty) or option (field: the option), naming the known ones, and
// for an option's wrong value.
Result<std::unique_ptr<Tuner>> MakeTuner(const std::string& name, const Options& options, const Trials& trials);

}  // namespace espalier::tuners
