#include "client/tuners/early_stop.h"

#include "client/tuners/successive_halving.h"

namespace espalier::tuners {
namespace {

constexpr char kName[] = "milestones";

tl::unexpected<Error> WrongMilestones(const std::string& message) {
  return MakeError(ErrorCode::kInvalidArgument, message, kName);
}

Result<Counts> MilestonesOption(const Options& options) {
  const std::string expected = "expected steps and how many trials are trained up to there, such as {5: 8, 10: 4}";
  const auto option = options.find(kName);
  if (option == options.end()) return WrongMilestones("is missing; " + expected);
  const Counts* const milestones = std::get_if<Counts>(&option->second);
  if (milestones == nullptr || milestones->empty()) return WrongMilestones(expected);
  std::int64_t before = milestones->begin()->second;
  for (const auto& [steps, count] : *milestones) {
    const std::string given = "got " + std::to_string(steps) + ": " + std::to_string(count) + "; expected ";
    if (steps < 1 || steps > kStepMax.value) return WrongMilestones(given + "a step from 1 to 2^53");
    if (count < 1) return WrongMilestones(given + "at least one trial");
    if (count > before) return WrongMilestones(given + "no more trials than at the milestone before");
    before = count;
  }
  return *milestones;
}

Result<std::unique_ptr<Tuner>> MakeEarlyStop(const Options& options, Trials given) {
  ESPALIER_ASSIGN(const Counts milestones, MilestonesOption(options));
  const std::int64_t first = milestones.begin()->second;
  if (first < std::ssize(given.candidates)) {
    return WrongMilestones("got " + std::to_string(first) + " trials at the first; expected all " +
                           std::to_string(given.candidates.size()));
  }
  std::vector<Step> rungs;
  std::vector<std::size_t> counts;
  for (const auto& [steps, count] : milestones) {
    rungs.push_back(Step{steps});
    counts.push_back(static_cast<std::size_t>(count));
  }
  // What goes on from a rung is what the next one is for.
  const KeptCount kept = [counts](std::size_t rung, std::size_t) { return counts[rung + 1]; };
  return MakeOneBracket(HalvingBracket(Ladder(std::move(given.candidates), std::move(rungs), 1), 0, kept));
}

}  // namespace

TunerKind EarlyStopKind() {
  return {.name = "early_stop", .version = 1, .option_names = {kName}, .make = MakeEarlyStop};
}

}  // namespace espalier::tuners
