// What `espalier simulate` says of the simulations that it made: a table, JSON, a picture. Pure.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/study_choices.h"
#include "base/units.h"
#include "client/json.h"
#include "client/simulation/trace.h"
#include "sim/simulated_studies.h"

namespace espalier {

// One of them.
struct Simulated {
  std::string policy;
  std::optional<Scope> scope;  // none: each study's own
  sim::SimulatedStudies result;
};

struct SimulationResults {
  std::vector<std::string> names;             // of the studies
  std::vector<Seconds> arrivals;              // likewise
  std::vector<std::string> teams;             // likewise
  Seconds lead{0};                            // so much later each came in the simulation
  std::vector<sim::SimulatedServer> servers;  // with their names
  std::vector<Simulated> all;
  std::optional<Trace> really;  // what was replayed: its studies in the same order

  std::int64_t SlotCount() const;
  // A server has a price.
  bool HasPrices() const;
  // Trainings that share a GPU are slower there: then nothing is known that no schedule could undercut.
  bool HasBound() const;
};

// How long all of them really took, from the first one's arrival. REQUIRES: a study at least.
Seconds EndToEnd(const Trace& trace);

// How much longer than what really happened, in percent; below 0: shorter. REQUIRES: both above 0.
double PercentMore(Seconds simulated, Seconds really);

// A row for each simulation; where something was replayed, one of what really happened before them, and by how much
// each differs from it.
void PrintTable(std::ostream& out, const SimulationResults& results);

// An object for each simulation.
Json InJson(const SimulationResults& results);

// As SVG: a schedule for each, below what really happened.
std::string PictureOf(const SimulationResults& results);

}  // namespace espalier
