// What all parts of one simulation share: time, chance, how long things take, what is written down, and the first law
// that was found broken. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "sim/chance.h"
#include "sim/clock.h"
#include "sim/learning_curves.h"

namespace espalier::sim {

// Typical times of one simulation.
struct Durations {
  Seconds network{0.01};
  Seconds commit{0.01};
  Seconds upload{0.1};
  Seconds fetch{0.1};
  Seconds start_worker{1};
  Seconds set_up{0.05};
  Seconds load{0.1};
  Seconds train{1};
  Seconds evaluate{0.5};
  Seconds save{0.3};
  Seconds analyse{0.5};  // a curve
  Seconds reply{0.001};  // of a worker, until its node manager has it
  bool vary = true;      // what workers do takes about as long; else exactly
};

// From 1 ms to 2 s each, but for training.
Durations DrawDurations(Chance& chance);

// Of what happened, that recorded trainings did not tell.
struct Estimated {
  std::int64_t steps = 0;        // their times
  std::int64_t evaluations = 0;  // their metrics
};

// The last lines of what happened; kept only if it was asked for.
class Trace {
 public:
  explicit Trace(std::size_t line_count_max) : line_count_max_(line_count_max) {}

  bool is_kept() const { return line_count_max_ > 0; }
  void Add(Seconds now, const std::string& line);
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  std::size_t line_count_max_;
  std::deque<std::string> lines_;
};

struct World {
  World(std::uint64_t seed, std::size_t trace_line_count_max)
      : chance(seed), durations(DrawDurations(chance)), trace(trace_line_count_max) {}

  // `line` gives the text; it is called only if the trace is kept.
  template <class Line>
  void Tell(const Line& line) {
    if (trace.is_kept()) trace.Add(clock.now(), line());
  }

  // The first counts.
  void Broken(const std::string& law);

  Clock clock;
  Chance chance;
  Durations durations;
  Seconds nodes_tick_every{0.1};  // node managers look around them
  Trace trace;
  Estimated estimated;
  const Measures* measures = nullptr;  // what evaluations of formula offers return; null: as the formula of seed 0 says
  // How fast trainers train on so many slots of a device together, against one (PolicyChoices); as on one where nothing
  // is said.
  std::map<std::string, std::map<std::int64_t, double>> speeds;
  std::optional<std::string> broken_law;  // in one sentence
};

}  // namespace espalier::sim
