// espalier-bench NAME [--output json] [--small]: runs one bench of README.md. bench/run builds and calls it.
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "base/log.h"
#include "bench/benches.h"

namespace {

using espalier::bench::Figures;
using espalier::bench::Size;

const std::map<std::string, void (*)(Figures&, Size)> kBenches = {
    {"bridge", espalier::bench::RunBridge},
    {"crowd", espalier::bench::RunCrowd},
    {"deadlines", espalier::bench::RunDeadlines},
    {"decide", espalier::bench::RunDecide},
    {"fair_share", espalier::bench::RunFairShare},
    {"gpu", espalier::bench::RunGpu},
    {"makespan", espalier::bench::RunMakespan},
    {"merge_aware", espalier::bench::RunMergeAware},
    {"overhead", espalier::bench::RunOverhead},
    {"packing", espalier::bench::RunPacking},
    {"preempt", espalier::bench::RunPreempt},
    {"ray", espalier::bench::RunRay},
    {"real", espalier::bench::RunReal},
    {"replay", espalier::bench::RunReplay},
    {"reports", espalier::bench::RunReports},
    {"restart", espalier::bench::RunRestart},
    {"rivals", espalier::bench::RunRivals},
    {"saving", espalier::bench::RunSaving},
    {"simulate", espalier::bench::RunSimulate},
    {"submit", espalier::bench::RunSubmit},
    {"tables", espalier::bench::RunTables},
    {"thesis", espalier::bench::RunThesis},
    {"time_slices", espalier::bench::RunTimeSlices},
    {"time_to_target", espalier::bench::RunTimeToTarget},
    {"tpe", espalier::bench::RunTpe},
    {"turnaround", espalier::bench::RunTurnaround},
    {"watchers", espalier::bench::RunWatchers},
};

int Usage() {
  std::cerr << "usage: espalier-bench NAME [--output text|json] [--small], where NAME is one of:";
  for (const auto& [name, run] : kBenches) std::cerr << ' ' << name;
  std::cerr << '\n';
  return 2;
}

int Run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 4 && arguments[0] == "first-submission") {
    espalier::bench::FirstSubmission(arguments[1], arguments[2], std::stoll(arguments[3]));
    return 0;
  }
  if (arguments.size() > 4 && arguments[0] == "watch-study") {
    espalier::bench::WatchStudy(arguments[1], std::stoll(arguments[2]), arguments[3],
                                {arguments.begin() + 4, arguments.end()});
    return 0;
  }
  const auto bench = arguments.empty() ? kBenches.end() : kBenches.find(arguments[0]);
  if (bench == kBenches.end()) return Usage();
  Size size;
  bool json = false;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--small") {
      size.small = true;
    } else if (arguments[i] == "--output" && i + 1 < arguments.size()) {
      json = arguments[++i] == "json";
    } else {
      return Usage();
    }
  }
  espalier::SetUpLog("espalier-bench");  // standard output is the figures' alone
  Figures figures;
  bench->second(figures, size);
  if (json) std::cout << figures.AsJson(arguments[0]);
  return 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  try {
    return Run({arguments + 1, arguments + argument_count});
  } catch (const std::exception& error) {
    std::cerr << "espalier-bench: " << error.what() << '\n';
    return 1;
  }
}
