// TPE, the tree-structured Parzen estimator (J. Bergstra et al., Algorithms for Hyper-Parameter Optimization, NIPS
// 2011, section 4), over several numbers of steps and all dimensions together as BOHB has it (S. Falkner, A. Klein, F.
// Hutter, BOHB, ICML 2018, section 4): what was measured at the largest number of steps at which enough was, is parted
// into good and bad; of points drawn near good ones the one is tried that is the likeliest among the good, the least
// likely among the bad. docs/tuners.md has every choice and number.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "client/space/drawing.h"
#include "client/tuners/kernel_density.h"
#include "client/tuners/sampler.h"

namespace espalier::tuners {

class TpeSampler : public Sampler {
 public:
  // REQUIRES: the space's ranges were checked, and there is something to draw.
  TpeSampler(const SearchSpace& space, std::int64_t seed);

  // With d dimensions: O(results + d).
  TrialText Draw() override;
  void Learn(const ClaimOutcome& outcome) override;

 private:
  struct Measurement {
    Outcome outcome;
    std::size_t trial = 0;
  };

  // What numbers are drawn from, in their order.
  class Numbers;

  Point PointOf(Numbers& numbers) const;
  struct Known {
    std::vector<std::size_t> good;
    std::vector<std::size_t> bad;
  };
  // Nothing while too little is known to tell.
  Known Parted() const;
  // At most so many, evenly among them.
  std::vector<Point> PointsOf(const std::vector<std::size_t>& trials, std::size_t most) const;

  const Drawing drawing_;
  const std::int64_t seed_;
  std::vector<Point> points_;                         // of the trials that were drawn
  std::map<Step, std::vector<Measurement>> results_;  // the best first; of equals in the order of their arrival
};

}  // namespace espalier::tuners
