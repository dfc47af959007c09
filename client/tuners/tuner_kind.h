// What a tuner's file declares: its name, its options, and how one is made.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "client/space/sampling.h"
#include "client/space/search_space.h"
#include "client/tuners/tuner.h"
#include "searchplan/sequence/value.h"

namespace espalier::tuners {

// Numbers by numbers, such as {5: 8, 10: 4}.
using Counts = std::map<std::int64_t, std::int64_t>;
using Option = std::variant<Value, Counts>;
using Options = std::map<std::string, Option>;

// What a tuner has to try.
struct Trials {
  std::vector<Candidate> candidates;  // those of the space, then those that were written out
  std::size_t from_space = 0;         // so many are the space's
  SearchSpace space{};
  std::optional<Sampling> sampling{};  // how those of the space are drawn; none: they are its combinations
};

// Whether they are drawn as the tuner starts them, by what is known then.
bool Learns(const Trials& trials);

// Where a tuner's candidates come from.
enum class CandidateSource {
  kGiven,  // a grid, or one by one
  kDrawn,  // from a space
  kEither,
};

// When it starts its trials.
enum class Starting {
  kAtOnce,
  kOneByOne,  // as others are measured, so that a sampler may learn from them
};

struct TunerKind {
  std::string name;          // as study files name it
  std::int64_t version = 1;  // counts up when it would decide differently of the same events
  CandidateSource candidates = CandidateSource::kEither;
  Starting starting = Starting::kAtOnce;
  std::optional<SamplingMethod> sampling{};  // the only one that it takes; none: any
  std::vector<std::string> option_names;     // all that it takes
  // Error: kInvalidArgument, with the option as field. Options that are not named above have been refused already.
  std::function<Result<std::unique_ptr<Tuner>>(const Options&, Trials)> make;
};

// A whole-number option. Error: kInvalidArgument when it is missing, no whole number, or below `least`.
Result<std::int64_t> WholeOption(const Options& options, const std::string& name, std::int64_t least);

// A number from 0 to 1; left out: `otherwise`. Error: kInvalidArgument for anything else.
Result<double> ShareOption(const Options& options, const std::string& name, double otherwise);

// true or false; left out: false. Error: kInvalidArgument for anything else.
Result<bool> FlagOption(const Options& options, const std::string& name);

// How many trials shall be open at once; none: as many as idle slots ask for. Error: as of WholeOption.
Result<std::optional<std::size_t>> OpenTrialsOption(const Options& options);

// A number of steps: as WholeOption, at most kStepMax.
Result<Step> StepOption(const Options& options, const std::string& name, Step least);

}  // namespace espalier::tuners
