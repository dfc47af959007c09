#include "tests/support/need_oracle.h"

#include <algorithm>
#include <sstream>

namespace espalier {
namespace {

std::string Line(PlanNodeId node, Step from, Step to, const std::string& evaluation, const std::string& after) {
  std::ostringstream line;
  line << node.value << " (" << from.value << ", " << to.value << "] " << evaluation << " " << after;
  return line.str();
}

// Whether a stage ends at the place, or a state stands there; not where covered claims alone lie on the way.
bool IsEnd(Point point, const Place& place) {
  const bool only_goes_on = place.successors.size() == (place.successors.contains(point.node) ? 1u : 0u);
  return place.has_state() || !place.studies.counts().empty() || !only_goes_on;
}

}  // namespace

Work WorkOf(const StageTree& tree) {
  Work work;
  for (const Stage& stage : tree.stages) {
    std::string after = "hangs";
    if (!stage.parent) after = std::holds_alternative<FromPromise>(stage.source) ? "waits" : "ready";
    work.insert(Line(stage.node, stage.from, stage.to, stage.evaluation, after));
  }
  return work;
}

Work WorkOf(const NeedIndex& index, const SearchPlan& plan) {
  Work work;
  for (const auto& [id, node] : index.nodes()) {
    for (const auto& [step, place] : node.places) {
      const Point point{id, step};
      if (place.hangs && IsEnd(point, place)) {
        Point above = index.Above(plan, point).value();
        while (!IsEnd(above, *index.Find(above))) above = index.Above(plan, above).value();
        const Place& from = *index.Find(above);
        const std::string after = !from.has_state() ? "hangs" : from.stored ? "ready" : "waits";
        work.insert(Line(id, above.step, step, "", after));
      }
      for (const auto& [evaluation, waiting] : place.waiting) {
        if (waiting.claims.empty() || !waiting.covered_by.empty() || !place.has_state()) continue;
        if (evaluation == kStateAlone) continue;
        work.insert(Line(id, step, step, evaluation, place.stored ? "ready" : "waits"));
      }
    }
  }
  return work;
}

std::vector<std::string> WrongPromises(const SearchPlan& plan, const std::vector<RunView>& runs) {
  std::vector<std::string> wrong;
  const auto needed = NeededPromises(plan, runs, {});
  for (const RunView& run : runs) {
    const std::set<PromisedAt> present(run.promises.begin(), run.promises.end());
    const std::set<PromisedAt>& wanted = needed.at(run.id).promises;
    const auto text = [&](const PromisedAt& promise) {
      return "run " + std::to_string(run.id.value) + " " + std::string(Name(promise.owed)) + "@" +
             std::to_string(promise.step.value);
    };
    for (const PromisedAt& promise : wanted) {
      if (run.training && !present.contains(promise)) wrong.push_back(text(promise) + " is needed and not promised");
    }
    for (const PromisedAt& promise : present) {
      if (run.training && promise.owed == Owed::kMetrics && !wanted.contains(promise)) {
        wrong.push_back(text(promise) + " is promised and not needed");
      }
    }
    if (!run.training || present.empty()) continue;
    const bool end_is_needed = wanted.contains(*present.rbegin()) || present.rbegin()->step <= run.at;
    if (!end_is_needed) wrong.push_back(text(*present.rbegin()) + " is the end and not needed");
  }
  return wrong;
}

}  // namespace espalier
