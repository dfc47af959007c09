#include "sim/world.h"

#include <cstdio>

namespace espalier::sim {

Durations DrawDurations(Chance& chance) {
  constexpr double kLeast = 0.001;
  constexpr double kMost = 2.048;
  return {.network = chance.Magnitude(kLeast, kMost),
          .commit = chance.Magnitude(kLeast, kMost),
          .upload = chance.Magnitude(kLeast, kMost),
          .fetch = chance.Magnitude(kLeast, kMost),
          .start_worker = chance.Magnitude(0.1, 5),
          .set_up = chance.Magnitude(kLeast, kMost),
          .load = chance.Magnitude(kLeast, kMost),
          .train = chance.Magnitude(1, 20),
          .evaluate = chance.Magnitude(0.05, 2),
          .save = chance.Magnitude(kLeast, kMost)};
}

void Trace::Add(Seconds now, const std::string& line) {
  char moment[32];
  std::snprintf(moment, sizeof(moment), "%11.4f  ", now.count());
  lines_.push_back(moment + line);
  if (lines_.size() > line_count_max_) lines_.pop_front();
}

void World::Broken(const std::string& law) {
  if (broken_law) return;
  broken_law = law;
  Tell([&] { return "BROKEN: " + law; });
}

}  // namespace espalier::sim
