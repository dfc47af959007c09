#include "scheduler/action.h"

namespace espalier {

std::string Print(const Action& action) {
  struct Printer {
    std::string operator()(const StartRun& start) const {
      std::string text = "start tree " + std::to_string(start.tree) + " stages";
      for (const std::size_t stage : start.stages) text += " " + std::to_string(stage);
      return text + " on " + start.slot.server + "/" + std::to_string(start.slot.index);
    }
    std::string operator()(const PreemptRun& preempt) const {
      return "preempt run " + std::to_string(preempt.run.value);
    }
  };
  return std::visit(Printer{}, action);
}

}  // namespace espalier
