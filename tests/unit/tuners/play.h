// Whole studies by hand, without a service.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "client/tuners/tuner.h"

namespace espalier::tuners {

// With a hyper-parameter of its own each.
inline std::vector<Candidate> Candidates(std::size_t count) {
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < count; ++i) candidates.push_back({{{"lr", std::to_string(i) + ".5"}}, std::nullopt});
  return candidates;
}

struct Played {
  std::size_t started = 0;
  std::map<Step, std::vector<std::size_t>> reached;  // trials that were measured there, in ascending order
  bool finished = false;
};

// Settles every claim, the oldest first. Of cancelled trials nothing more.
inline Played Play(Tuner& tuner, const std::function<Outcome(std::size_t trial, Step steps)>& outcome_at) {
  Played played;
  std::deque<std::pair<std::size_t, Step>> waiting;
  const auto take = [&](const std::vector<Action>& actions) {
    for (const Action& action : actions) {
      if (const auto* start = std::get_if<StartTrial>(&action)) {
        waiting.emplace_back(played.started, start->steps);
        for (const Step more : start->more) waiting.emplace_back(played.started, more);
        ++played.started;
      }
      if (const auto* more = std::get_if<ContinueTrial>(&action)) waiting.emplace_back(more->trial, more->steps);
      if (const auto* cancel = std::get_if<CancelTrial>(&action)) {
        std::erase_if(waiting, [&](const auto& each) { return each.first == cancel->trial; });
      }
      played.finished |= std::holds_alternative<FinishStudy>(action);
    }
  };
  take(tuner.Start());
  while (true) {
    if (waiting.empty() && tuner.AsksForIdleSlots()) take(tuner.OnEvent(SlotIdle{}));
    if (waiting.empty()) break;
    const auto [trial, steps] = waiting.front();
    waiting.pop_front();
    played.reached[steps].push_back(trial);
    take(tuner.OnEvent(ClaimOutcome{trial, steps, outcome_at(trial, steps)}));
  }
  for (auto& [steps, trials] : played.reached) std::sort(trials.begin(), trials.end());
  return played;
}

}  // namespace espalier::tuners
