// What a tuner's file declares: its name, its options, and how one is made.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/tuners/tuner.h"
#include "searchplan/sequence/value.h"

namespace espalier::tuners {

using Options = std::map<std::string, Value>;

// Where a tuner's candidates come from.
enum class CandidateSource {
  kGiven,  // a grid, or one by one
  kDrawn,  // from a space
  kEither,
};

struct TunerKind {
  std::string name;          // as study files name it
  std::int64_t version = 1;  // counts up when it would decide differently of the same events
  CandidateSource candidates = CandidateSource::kEither;
  std::vector<std::string> option_names;  // all that it takes
  // Error: kInvalidArgument, with the option as field. Options that are not named above have been refused already.
  std::function<Result<std::unique_ptr<Tuner>>(const Options&, std::vector<Candidate>)> make;
};

// A whole-number option. Error: kInvalidArgument when it is missing, no whole number, or below `least`.
Result<std::int64_t> WholeOption(const Options& options, const std::string& name, std::int64_t least);

// true or false; left out: false. Error: kInvalidArgument for anything else.
Result<bool> FlagOption(const Options& options, const std::string& name);

// How many trials shall be open at once; none: as many as idle slots ask for. Error: as of WholeOption.
Result<std::optional<std::size_t>> OpenTrialsOption(const Options& options);

// A number of steps: as WholeOption, at most kStepMax.
Result<Step> StepOption(const Options& options, const std::string& name, Step least);

}  // namespace espalier::tuners
