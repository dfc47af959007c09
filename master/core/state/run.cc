#include "master/core/state/run.h"

#include <algorithm>

#include "base/enum_names.h"

namespace espalier::master {

namespace {

constexpr EnumName<PromiseState> kPromiseStates[] = {{PromiseState::kOpen, "open"},
                                                     {PromiseState::kKept, "kept"},
                                                     {PromiseState::kLost, "lost"},
                                                     {PromiseState::kWithdrawn, "withdrawn"}};

struct StateName {
  std::string_view operator()(const Training&) const { return "training"; }
  std::string_view operator()(const Saving&) const { return "saving"; }
  std::string_view operator()(const Ended&) const { return "ended"; }
};

}  // namespace

std::string_view Name(const RunState& state) { return std::visit(StateName{}, state); }

std::string_view Name(PromiseState state) { return NameIn(kPromiseStates, state); }

Result<PromiseState> ParsePromiseState(std::string_view name) { return ParseIn(kPromiseStates, name); }

Point BeginningOf(const Run& run) {
  if (run.start) return *run.start;
  return {run.path.front().node, run.path.front().from};
}

Step Run::at() const {
  if (const auto* training = std::get_if<Training>(&state)) return training->at;
  return BeginningOf(*this).step;
}

const Promise* Run::FindOpen(Step step, Owed owed) const {
  const auto found = open.find({step, owed});
  return found == open.end() ? nullptr : &promises.at(found->second);
}

const PathStage* FindStage(const Run& run, Step step) {
  const auto stage = std::ranges::lower_bound(run.path, step, {}, &PathStage::to);
  return stage != run.path.end() && stage->from < step ? &*stage : nullptr;
}

bool Passes(const Run& run, Point point) {
  if (run.start == point) return true;
  const PathStage* stage = FindStage(run, point.step);
  return stage != nullptr && stage->node == point.node;
}

Step EndOf(const Run& run) { return run.open.empty() ? run.at() : std::max(run.at(), run.open.rbegin()->first.first); }

RunView ViewOf(const Run& run) {
  RunView view{.id = run.id,
               .plan = run.plan,
               .ordered_at = run.ordered_at,
               .start = run.start,
               .path = run.path,
               .slot = run.slot,
               .device = run.reservation.device,
               .slots = run.slots,
               .evaluation = run.evaluation,
               .at = run.at(),
               .training = run.training() && !run.preempt,
               .promises = {}};
  for (const auto& [promised, id] : run.open) view.promises.push_back({promised.first, promised.second});
  return view;
}

Point PointOf(const Run& run, Step step) {
  const PathStage* stage = FindStage(run, step);
  return stage == nullptr ? run.start.value() : Point{stage->node, step};
}

}  // namespace espalier::master
