// The studies of TreeML's chapter 6 in the simulator, on its 40 slots: sharing against each trial alone, beside what
// the thesis measured on 40 GPUs.
#include <string>
#include <vector>

#include "bench/benches.h"
#include "bench/servers_of_eight.h"

namespace espalier::bench {
namespace {

// Of the best trial, one after another, which the thesis counts too.
constexpr double kExtraSteps = 100;

struct ThesisStudy {
  std::string name;
  std::vector<std::string> files;
  Seconds step{60};
  std::int64_t seeds = 1;
  std::string device_hours_goal{};  // as many times fewer
  std::string end_to_end_goal{};
};

sim::SimulatedStudies Simulate(const ThesisStudy& subject, Scope scope, std::int64_t seed) {
  std::vector<sim::StudyToSimulate> studies;
  for (const std::string& name : subject.files) {
    studies.push_back(ReadStudy(name));
    studies.back().specification.scope = scope;
  }
  return SimulateOn(
      studies, {.seed = seed, .durations = UsualWithSteps(subject.step), .policy = "critical_path_not_preempting"});
}

void Measure(Figures& figures, const ThesisStudy& subject, Size size) {
  std::vector<double> device_hours;
  std::vector<double> end_to_end;
  std::vector<double> device_hours_extra;
  std::vector<double> end_to_end_extra;
  std::vector<double> merge_rates;
  std::vector<double> over_bound;
  const Seconds extra = kExtraSteps * subject.step;
  for (std::int64_t seed = 1; seed <= size.Of(subject.seeds, 1); ++seed) {
    const sim::SimulatedStudies alone = Simulate(subject, Scope::kNobody, seed);
    const sim::SimulatedStudies shared = Simulate(subject, Scope::kTeam, seed);
    device_hours.push_back(alone.slot_time / shared.slot_time);
    end_to_end.push_back(alone.end_to_end / shared.end_to_end);
    device_hours_extra.push_back((alone.slot_time + extra) / (shared.slot_time + extra));
    end_to_end_extra.push_back((alone.end_to_end + extra) / (shared.end_to_end + extra));
    merge_rates.push_back(static_cast<double>(shared.steps.claimed) / static_cast<double>(shared.steps.unique));
    over_bound.push_back(shared.end_to_end / shared.bound);
  }
  figures.Add(subject.name + "_device_hours_times_fewer", Mean(device_hours), subject.device_hours_goal);
  figures.Add(subject.name + "_end_to_end_times_sooner", Mean(end_to_end), subject.end_to_end_goal);
  figures.Add(subject.name + "_device_hours_times_fewer_with_100_more_steps", Mean(device_hours_extra));
  figures.Add(subject.name + "_end_to_end_times_sooner_with_100_more_steps", Mean(end_to_end_extra));
  figures.Add(subject.name + "_merge_rate", Mean(merge_rates));
  figures.Add(subject.name + "_end_to_end_over_bound", Mean(over_bound));
}

std::vector<std::string> Files(const std::string& set, int from, int to) {
  std::vector<std::string> files;
  for (int i = from; i <= to; ++i) files.push_back(set + "-" + std::to_string(i));
  return files;
}

}  // namespace

void RunThesis(Figures& figures, Size size) {
  std::vector<ThesisStudy> subjects{{"resnet56_sha", {"resnet56-sha"}, Seconds(60), 30, "> 4.81", "> 2.76"},
                                    {"resnet56_asha", {"resnet56-asha"}, Seconds(60), 30, "> 3.92", "> 2.76"},
                                    {"mobilenet_v2_grid", {"mobilenet-v2-grid"}, Seconds(60), 1, "3.14 within 2 %"},
                                    {"bert_base_grid", {"bert-base-grid"}, Seconds(1), 1, "2.05 within 2 %"},
                                    {"first_s1", Files("first", 1, 1)},
                                    {"first_s2", Files("first", 1, 2)},
                                    {"first_s4", Files("first", 1, 4)},
                                    {"first_s8", Files("first", 1, 8)},
                                    {"second_s1", Files("second", 1, 1)},
                                    {"second_s2", Files("second", 1, 2)},
                                    {"second_s4", Files("second", 2, 5)},
                                    {"second_s8", Files("second", 1, 8)}};
  if (size.small) subjects.resize(1);
  for (const ThesisStudy& subject : subjects) Measure(figures, subject, size);
}

}  // namespace espalier::bench
