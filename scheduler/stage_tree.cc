#include "scheduler/stage_tree.h"

#include <sstream>

namespace espalier {
namespace {

std::string Print(Point point) {
  return "(" + std::to_string(point.node.value) + ", " + std::to_string(point.step.value) + ")";
}

std::string Print(const Source& source) {
  struct Printer {
    std::string operator()(const FromInit&) const { return "init"; }
    std::string operator()(const FromCheckpoint& from) const { return "checkpoint " + Print(from.point); }
    std::string operator()(const FromPromise& from) const {
      return "promise of run " + std::to_string(from.run.value) + " at " + Print(from.point);
    }
  };
  return std::visit(Printer{}, source);
}

template <class Id>
void PrintIds(std::ostream& out, const char* what, const std::vector<Id>& ids) {
  if (ids.empty()) return;
  out << ", " << what;
  for (const Id& id : ids) out << " " << id.value;
}

void PrintStage(std::ostream& out, const StageTree& tree, std::size_t index) {
  const Stage& stage = tree.stages[index];
  out << "stage " << index << ": node " << stage.node.value;
  if (stage.from == stage.to) {
    out << " evaluate at " << stage.to.value << " by " << stage.evaluation;
  } else {
    out << " (" << stage.from.value << ", " << stage.to.value << "]";
  }
  if (!stage.parent) out << " from " << Print(stage.source);
  PrintIds(out, "claims", stage.claims);
  PrintIds(out, "trials", stage.trials);
  out << "\n";
}

}  // namespace

bool IsReady(const StageTree& tree, std::size_t stage) {
  const Stage& at = tree.stages[stage];
  return !at.parent && !std::holds_alternative<FromPromise>(at.source);
}

std::string Print(const StageTree& tree) {
  std::ostringstream out;
  std::vector<std::pair<std::size_t, int>> pending;  // stage and depth, the next one last
  for (std::size_t i = tree.stages.size(); i-- > 0;) {
    if (!tree.stages[i].parent) pending.emplace_back(i, 0);
  }
  while (!pending.empty()) {
    const auto [index, depth] = pending.back();
    pending.pop_back();
    out << std::string(2 * depth, ' ');
    PrintStage(out, tree, index);
    const std::vector<std::size_t>& children = tree.stages[index].children;
    for (auto it = children.rbegin(); it != children.rend(); ++it) pending.emplace_back(*it, depth + 1);
  }
  return out.str();
}

}  // namespace espalier
