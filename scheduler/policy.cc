#include "scheduler/policy.h"

#include <array>
#include <string>

#include "scheduler/even_end.h"
#include "scheduler/meet_deadlines.h"
#include "scheduler/pack_devices.h"
#include "scheduler/release_laggards.h"
#include "scheduler/time_slices.h"

namespace espalier {
namespace {

// As soon as a slot is idle it starts the best of a ranking; it preempts nothing.
class StartBestFirst : public Policy {
 public:
  StartBestFirst(std::string_view name, Ranking ranking, bool one_stage)
      : name_(name), ranking_(ranking), one_stage_(one_stage) {}

  std::string_view name() const override { return name_; }
  Ranking ranking() const override { return ranking_; }
  std::optional<Action> Decide(const View& view, Time) override {
    std::optional<StartPath> start = view.BestStart();
    if (start) start->one_stage = one_stage_;
    return start;
  }

 private:
  const std::string name_;
  const Ranking ranking_;
  const bool one_stage_;
};

struct Ranked {
  std::string_view name;
  std::string_view unbatched;  // the same, each run being one stage, as the thesis compares them
  std::string_view summary;
  Ranking ranking;
};

constexpr std::array kRanked{
    Ranked{"critical_path_not_preempting", "critical_path_unbatched",
           "the longest estimated way down first (TreeML 4.3), each run to its path's end", Ranking::kLongest},
    Ranked{"breadth_first", "breadth_first_unbatched", "the earliest step first (TreeML 6.3)", Ranking::kBreadthFirst},
    Ranked{"throughput", "throughput_unbatched", "what most stages wait for first, all those below it (TreeML 6.3)",
           Ranking::kMostBelow},
    Ranked{"throughput_children", "throughput_children_unbatched",
           "what most stages wait for first, those right behind it (TreeML 6.3)", Ranking::kMostChildren},
};

struct Entry {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Policy> (*make)();
};

constexpr Entry kDefault{kDefaultPolicy,
                         "the longest estimated way down first (TreeML 4.3); runs with little left make room for much "
                         "longer ones that would end last",
                         []() -> std::unique_ptr<Policy> { return std::make_unique<EvenEnd>(); }};

constexpr std::array kEntries{
    Entry{"bandit",
          "as critical_path_not_preempting; every 10 steps it cancels trials whose best metric times 1.5 does not "
          "exceed the study's best, where studies let it (HyperDrive 6.1)",
          [] { return MakeReleaseLaggards(kBandit); }},
    Entry{"early_term_last_value",
          "as critical_path_not_preempting; every 30 steps it cancels trials whose metric is worse than the study's "
          "best, where "
          "studies let it",
          [] { return MakeReleaseLaggards(kEarlyTermLastValue); }},
    Entry{
        "hermes",
        "trainings take turns, in slices of 10 s that grow; who converges fastest goes on (Hermes, algorithm 3); teams "
        "have no shares",
        [] { return MakeTimeSlices(kHermes); }},
    Entry{"hermes_pinned", "as hermes; each training stays on the slot that it was given when it came",
          [] { return MakeTimeSlices(kHermesPinned); }},
    Entry{"slaq", "trainings take turns, in slices of 30 s; who has the highest loss goes on; teams have no shares",
          [] { return MakeTimeSlices(kSlaq); }},
    Entry{"round_robin", "trainings take turns, in slices of 30 s; teams have no shares",
          [] { return MakeTimeSlices(kRoundRobin); }},
    Entry{
        "hypersack",
        "several runs on a device, by what each is measured to take of it: the longest first, each where most is left "
        "(HyperSack, worst fit decreasing); teams have no shares",
        [] { return MakePackDevices(kHyperSack); }},
    Entry{"hypersack_filling", "as hypersack; the last run on a device is the one that leaves least of it",
          [] { return MakePackDevices(kHyperSackFilling); }},
    Entry{"hypersack_worst_fit", "as hypersack, the earliest submitted first",
          [] { return MakePackDevices(kHyperSackWorstFit); }},
    Entry{"hypersack_first_fit_decreasing", "as hypersack, each on the first device that has room",
          [] { return MakePackDevices(kHyperSackFirstFitDecreasing); }},
    Entry{"hypersack_first_fit", "as hypersack, the earliest submitted first, each on the first device that has room",
          [] { return MakePackDevices(kHyperSackFirstFit); }},
    Entry{
        "hypersched",
        "studies with a deadline first: for the best metric by then, trials that fall behind are held, and those that "
        "lead get more slots (HyperSched, algorithm 3); others as critical_path_not_preempting",
        [] { return MakeMeetDeadlines(); }},
};

}  // namespace

std::vector<KnownPolicy> KnownPolicies() {
  std::vector<KnownPolicy> known{{std::string(kDefault.name), std::string(kDefault.summary)}};
  for (const Ranked& order : kRanked) known.push_back({std::string(order.name), std::string(order.summary)});
  for (const Ranked& order : kRanked) {
    known.push_back({std::string(order.unbatched), "as " + std::string(order.name) + ", in runs of one stage"});
  }
  for (const Entry& entry : kEntries) known.push_back({std::string(entry.name), std::string(entry.summary)});
  return known;
}

Result<std::unique_ptr<Policy>> MakePolicy(std::string_view name) {
  if (name == kDefault.name) return kDefault.make();
  for (const Ranked& order : kRanked) {
    if (name == order.name) return std::make_unique<StartBestFirst>(name, order.ranking, false);
    if (name == order.unbatched) return std::make_unique<StartBestFirst>(name, order.ranking, true);
  }
  for (const Entry& entry : kEntries) {
    if (name == entry.name) return entry.make();
  }
  std::string names;
  for (const KnownPolicy& known : KnownPolicies()) names += (names.empty() ? "" : ", ") + known.name;
  return MakeError(ErrorCode::kInvalidArgument, "no policy '" + std::string(name) + "'; expected one of " + names,
                   "policy");
}

}  // namespace espalier
