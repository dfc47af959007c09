#include "worker/check/pass.h"

#include <algorithm>
#include <set>

namespace espalier::trainer_check {
namespace {

// Steps at which a pass is cut.
using Cuts = std::set<Step>;

std::string Print(const Cuts& cuts) {
  std::string text = cuts.size() == 1 ? "step " : "steps ";
  for (const Step cut : cuts) {
    if (cut != *cuts.begin()) text += cut == *cuts.rbegin() ? " and " : ", ";
    text += std::to_string(cut.value);
  }
  return text;
}

// Trains to the end, and saves at each step; at cuts these deeds come before and after that.
void TrainOn(Pass& pass, Step from, Step end, const Cuts& cuts = {}, const std::vector<Deed>& before = {},
             const std::vector<Deed>& after = {}) {
  const auto add = [&](Step step, const std::vector<Deed>& deeds) {
    if (!cuts.contains(step)) return;
    for (const Deed deed : deeds) pass.actions.push_back({deed, step});
  };
  for (Step step = from + 1; step <= end; step = step + 1) {
    pass.actions.push_back({Deed::kTrain, step});
    add(step, before);
    pass.actions.push_back({Deed::kSave, step});
    add(step, after);
  }
}

Cuts AllUpTo(Step end) {
  Cuts all;
  for (Step step{1}; step <= end; step = step + 1) all.insert(step);
  return all;
}

Pass Saved(Step end) {
  Pass pass{"saved at every step, in a new process", {{Deed::kBegin, {}}}};
  TrainOn(pass, Step{}, end, AllUpTo(end), {}, {Deed::kProceed});
  return pass;
}

Pass Evaluated(Step end) {
  Pass pass{"evaluated and saved at every step, begun again in that process", {{Deed::kBeginAgain, {}}}};
  TrainOn(pass, Step{}, end, AllUpTo(end), {Deed::kEvaluate});
  return pass;
}

Pass EvaluatedBehindCuts(Step end, const Cuts& cuts) {
  Pass pass{"resumed at " + Print(cuts) + " in new processes: saved, loaded, evaluated", {{Deed::kBeginAgain, {}}}};
  TrainOn(pass, Step{}, end, cuts, {}, {Deed::kResume, Deed::kSave, Deed::kEvaluate});
  return pass;
}

Pass EvaluatedBeforeCuts(Step end, const Cuts& cuts) {
  Pass pass{"resumed at " + Print(cuts) + " in new processes: evaluated, saved, loaded", {{Deed::kBeginAgain, {}}}};
  TrainOn(pass, Step{}, end, cuts, {Deed::kEvaluate}, {Deed::kResume});
  return pass;
}

Pass ResumedInProcess(Step end, Step at) {
  Pass pass{"resumed at " + Print(Cuts{at}) + " in a process that has trained on", {{Deed::kResumeInProcess, at}}};
  TrainOn(pass, at, end);
  return pass;
}

// The order of passes.
int Weight(Deed deed) {
  switch (deed) {
    case Deed::kTrain:
      return 0;
    case Deed::kBegin:
    case Deed::kProceed:
      return 1;
    case Deed::kSave:
      return 2;
    case Deed::kBeginAgain:
      return 3;
    case Deed::kEvaluate:
      return 4;
    case Deed::kResume:
    case Deed::kResumeInProcess:
    case Deed::kReload:
      return 5;
  }
  return 0;
}

}  // namespace

std::string Print(const Action& action) {
  const std::string at = " at step " + std::to_string(action.step.value);
  switch (action.deed) {
    case Deed::kBegin:
      return "begun in a new process";
    case Deed::kBeginAgain:
      return "begun again in a process that has trained before";
    case Deed::kTrain:
      return "trained to step " + std::to_string(action.step.value);
    case Deed::kEvaluate:
      return "evaluated" + at;
    case Deed::kSave:
      return "saved" + at;
    case Deed::kResume:
      return "resumed" + at + " in a new process";
    case Deed::kResumeInProcess:
      return "resumed" + at + " in a process that has trained on";
    case Deed::kReload:
      return "loaded" + at + " without Init in a process that has trained on";
    case Deed::kProceed:
      return "gone on with at step " + std::to_string(action.step.value) + " for another run";
  }
  return {};
}

Pass Straight(Step end) {
  Pass pass{"straight", {{Deed::kBegin, {}}}};
  for (Step step{1}; step <= end; step = step + 1) pass.actions.push_back({Deed::kTrain, step});
  pass.actions.push_back({Deed::kSave, end});
  pass.actions.push_back({Deed::kEvaluate, end});
  return pass;
}

std::vector<Pass> Disturbed(Step end, Step change) {
  const Step middle = change > Step{1} && change + 1 < end ? change : Step{end.value / 2};
  return {Saved(end), Evaluated(end), EvaluatedBehindCuts(end, {Step{1}, middle}),
          EvaluatedBeforeCuts(end, {Step{2}, middle + 1}), ResumedInProcess(end, middle)};
}

Pass BegunAgain(Step end) {
  Pass pass{"begun again in that process", {{Deed::kBeginAgain, {}}}};
  TrainOn(pass, Step{}, end);
  return pass;
}

Pass Reloaded(Step end) {
  const Step at{end.value / 2};
  Pass pass{"loaded at " + Print(Cuts{at}) + " without Init", {{Deed::kReload, at}}};
  TrainOn(pass, at, end);
  return pass;
}

Action Suspect(const std::vector<Action>& done) {
  return *std::max_element(done.begin(), done.end(),
                           [](const Action& a, const Action& b) { return Weight(a.deed) <= Weight(b.deed); });
}

int ProcessCount(const std::vector<Pass>& passes) {
  int count = 0;
  for (const Pass& pass : passes) {
    count += static_cast<int>(std::ranges::count_if(pass.actions, [](const Action& action) {
      return action.deed == Deed::kBegin || action.deed == Deed::kResume;
    }));
  }
  return count;
}

}  // namespace espalier::trainer_check
