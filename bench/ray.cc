// A grid of schedules in two bare processes, Optuna, Ray Tune and here: bench/ray/ does it.
#include <cstdlib>
#include <map>
#include <sstream>

#include "bench/benches.h"
#include "bench/copy_rate.h"
#include "bench/output_of.h"
#include "bench/service.h"

namespace espalier::bench {
namespace {

constexpr char kEpochsWhenSmall[] = "4";

const std::map<std::string, std::string> kGoals = {
    {"espalier_against_bare", "<= 0.42"},
    {"ray_tuned_against_espalier_by_merge_rate", ">= 1.1"},
};

}  // namespace

void RunRay(Figures& figures, Size size) {
  if (size.small) setenv("ESPALIER_BENCH_EPOCHS", kEpochsWhenSmall, /*overwrite=*/1);
  const Service service;  // of which Optuna's database is taken
  CopyDatabase(service.Database("postgres"), "template0", "optuna");
  std::istringstream lines(OutputOfScript("ESPALIER_RAY_PYTHON", "ESPALIER_RAY_SCRIPT",
                                          {ProgramBesideThisOne("espalier"), service.Database("optuna")}));
  std::string name;
  for (double value = 0; lines >> name >> value;) {
    const auto goal = kGoals.find(name);
    figures.Add(name, value, goal == kGoals.end() ? "" : goal->second);
  }
}

}  // namespace espalier::bench
