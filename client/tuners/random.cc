#include "client/tuners/random.h"

#include "client/tuners/grid.h"
#include "client/tuners/one_by_one.h"

namespace espalier::tuners {
namespace {

Result<std::unique_ptr<Tuner>> MakeRandom(const Options& options, Trials given) {
  const bool until_stopped = given.sampling && given.sampling->until_stopped;
  if (until_stopped || options.contains("open_trials")) return MakeOneByOne(options, std::move(given));
  return MakeGrid(options, std::move(given));
}

}  // namespace

TunerKind RandomKind() {
  return {.name = "random",
          .version = 1,
          .candidates = CandidateSource::kDrawn,
          .option_names = {"steps", "open_trials"},
          .make = MakeRandom};
}

}  // namespace espalier::tuners
