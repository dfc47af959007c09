#include "client/tuners/stopping_halving.h"

#include <algorithm>

#include "client/tuners/rungs.h"
#include "client/tuners/stopping.h"

namespace espalier::tuners {
namespace {

class StoppingHalving : public StoppingTuner {
 public:
  StoppingHalving(const Ladder& ladder, std::optional<std::size_t> open_trials)
      : StoppingTuner(ladder.StartsAtAll(), open_trials), rungs_(ladder.rung_count()), reduction_(ladder.reduction()) {}

 private:
  bool Stops(std::size_t, std::size_t claim, const Outcome& outcome) override {
    std::vector<Outcome>& rung = rungs_[claim];
    const auto place = std::lower_bound(rung.begin(), rung.end(), outcome, Better);
    const std::int64_t rank = place - rung.begin();
    rung.insert(place, outcome);
    return rank >= std::max<std::int64_t>(1, std::ssize(rung) / reduction_);
  }

  std::vector<std::vector<Outcome>> rungs_;  // the best first
  std::int64_t reduction_;
};

}  // namespace

std::unique_ptr<Tuner> MakeStoppingHalving(const Ladder& ladder, std::optional<std::size_t> open_trials) {
  return std::make_unique<StoppingHalving>(ladder, open_trials);
}

}  // namespace espalier::tuners
