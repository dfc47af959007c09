#include "sim/world.h"

#include <cstdio>

namespace espalier::sim {

Durations DrawDurations(Chance& chance) {
  return {.network = chance.Magnitude(0.001, 1),
          .commit = chance.Magnitude(0.001, 1.3),
          .upload = chance.Magnitude(0.001, 1.3),
          .fetch = chance.Magnitude(0.001, 1.3),
          .start_worker = chance.Magnitude(0.1, 5),
          .set_up = chance.Magnitude(0.001, 1),
          .load = chance.Magnitude(0.001, 1),
          .train = chance.Magnitude(1, 20),
          .evaluate = chance.Magnitude(0.05, 2),
          .save = chance.Magnitude(0.001, 1.3)};
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
