#include "master/core/views/placement.h"

#include <vector>

#include "master/core/state/stages.h"

namespace espalier::master {
namespace {

std::string WhyFirst(const MasterState& state, const Run& run) {
  if (run.path.empty()) return "evaluations of states that stand go before training";
  switch (state.index.ranking) {
    case Ranking::kLongest:
      return "of what an idle slot could take it had the longest way down, by estimated time";
    case Ranking::kBreadthFirst:
      return "of what an idle slot could take it began at the earliest step";
    case Ranking::kMostBelow:
      return "of what an idle slot could take it had the most stages below it";
    case Ranking::kMostChildren:
      return "of what an idle slot could take its first stage had the most stages right behind it";
  }
  return "";
}

}  // namespace

std::string WhyPlaced(const MasterState& state, const Run& run) {
  std::vector<std::string> reasons;
  if (run.leadership == state.leadership) reasons.push_back(WhyFirst(state, run));
  if (run.slots > 1) {
    reasons.push_back("it has " + std::to_string(run.slots) +
                      " slots of one device, since it was out of memory with fewer");
  }
  const StageBeginning stage = StageOf(run);
  if (const Pause* pause = LongestPause(state, stage); pause != nullptr && !pause->avoid.empty()) {
    const bool is_there = pause->avoid == run.slot.server;
    reasons.push_back(is_there ? "it crashed there before, and no other server that takes runs offered it"
                               : "it crashed on " + pause->avoid + " before");
  }
  if (const auto refusals = state.refusals.find(stage); refusals != state.refusals.end()) {
    for (const auto& [server, refusal] : refusals->second) {
      if (server != run.slot.server) reasons.push_back(server + " did not take it: " + refusal.why);
    }
  }
  std::string text;
  for (const std::string& reason : reasons) text += (text.empty() ? "" : "; ") + reason;
  return text;
}

}  // namespace espalier::master
