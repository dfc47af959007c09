#include "client/tuners/tpe.h"

#include "client/tuners/one_by_one.h"

namespace espalier::tuners {

TunerKind TpeKind() {
  return {.name = "tpe",
          .version = 1,
          .candidates = CandidateSource::kDrawn,
          .starting = Starting::kOneByOne,
          .sampling = SamplingMethod::kTpe,
          .option_names = {"steps", "open_trials"},
          .make = MakeOneByOne};
}

}  // namespace espalier::tuners
