#include "master/core/views/forecast_times.h"

#include <algorithm>
#include <tuple>

#include "scheduler/node_prices.h"

namespace espalier::master {
namespace {

// How many multiples of `period` a range has.
std::int64_t CountMultiples(StepRange range, std::int64_t period) {
  return period == 0 ? 0 : range.to.value / period - range.from.value / period;
}

// Of the range, what is in neither set.
std::vector<StepRange> Missing(StepRange range, const StepSet& a, const StepSet& b) {
  StepSet all;
  all.Add(range);
  return Difference(Difference(all, a), b).Ranges();
}

class Prices {
 public:
  // In microseconds; 0: never measured of such a training.
  double Of(const LineageToTrain& lineage, PlanNodeId id, CostKind kind) {
    const auto [price, is_new] = known_.try_emplace({lineage.costs, id, kind});
    if (!is_new) return price->second;
    price->second = NodePrices(lineage.costs, lineage.plan->Node(id)).Estimate(kind).value_or(0);
    return price->second;
  }

 private:
  std::map<std::tuple<const CostSums*, PlanNodeId, CostKind>, double> known_;
};

// The time of what lineages have that is neither trained nor paid before, in microseconds.
class Bill {
 public:
  Bill(const StepSet& trained, const std::set<EvaluatedPoint>& answered, Prices& prices)
      : trained_(trained), answered_(answered), prices_(prices) {}

  // REQUIRES: what is to be trained of the lineage has measured steps.
  double Pay(const LineageToTrain& lineage) {
    double time = 0;
    std::optional<Point> end;  // of the stretch that the steps before belong to
    for (const StepRange& range : LineageRanges(*lineage.plan, lineage.leaf, lineage.horizon)) {
      time += PayPeriodic(lineage, range);
      for (const StepRange& left : Missing(range, trained_, paid_)) {
        if (!end || end->step != left.from) {
          time += End(lineage, end) + Beginning(lineage, left.from);
        }
        time += static_cast<double>(left.to - left.from) * prices_.Of(lineage, left.node, CostKind::kStep);
        end = Point{left.node, left.to};
      }
      paid_.Add(range);
    }
    return time + End(lineage, end) + PayAsked(lineage);
  }

 private:
  double Beginning(const LineageToTrain& lineage, Step at) {
    if (at == Step{0}) return prices_.Of(lineage, PointOn(*lineage.plan, lineage.leaf, at + 1).node, CostKind::kSetUp);
    return prices_.Of(lineage, PointOn(*lineage.plan, lineage.leaf, at).node, CostKind::kLoad);
  }

  double End(const LineageToTrain& lineage, const std::optional<Point>& end) {
    return end ? prices_.Of(lineage, end->node, CostKind::kSave) : 0;
  }

  double PayPeriodic(const LineageToTrain& lineage, StepRange range) {
    if (lineage.evaluate_every == 0) return 0;
    StepSet& passed = passed_[{lineage.evaluation, lineage.evaluate_every}];
    std::int64_t count = 0;
    for (const StepRange& left : Missing(range, trained_, passed))
      count += CountMultiples(left, lineage.evaluate_every);
    passed.Add(range);
    return count == 0 ? 0 : static_cast<double>(count) * prices_.Of(lineage, range.node, CostKind::kEvaluate);
  }

  double PayAsked(const LineageToTrain& lineage) {
    double time = 0;
    for (const Step step : lineage.asked) {
      const Point point = PointOn(*lineage.plan, lineage.leaf, step);
      const bool is_trained = trained_.Contains(point.node, step);
      const bool in_passing = lineage.evaluate_every > 0 && step.value % lineage.evaluate_every == 0 && !is_trained;
      if (in_passing || answered_.contains({point, lineage.evaluation})) continue;
      if (!evaluated_.insert({point, lineage.evaluation}).second) continue;
      if (is_trained) time += prices_.Of(lineage, point.node, CostKind::kLoad);
      time += prices_.Of(lineage, point.node, CostKind::kEvaluate);
    }
    return time;
  }

  const StepSet& trained_;
  const std::set<EvaluatedPoint>& answered_;
  Prices& prices_;
  StepSet paid_;
  std::map<std::pair<std::string, std::int64_t>, StepSet> passed_;  // by evaluation and period: where they are paid
  std::set<EvaluatedPoint> evaluated_;
};

bool IsKnown(const LineageToTrain& lineage, const StepSet& trained) {
  if (lineage.costs->IsMeasured(CostKind::kStep)) return true;
  const std::vector<StepRange> ranges = LineageRanges(*lineage.plan, lineage.leaf, lineage.horizon);
  return std::all_of(ranges.begin(), ranges.end(),
                     [&](const StepRange& range) { return trained.CountIn(range) == range.to - range.from; });
}

}  // namespace

std::optional<TimesToTrain> TimesOf(std::vector<LineageToTrain> lineages, const StepSet& trained,
                                    const std::set<EvaluatedPoint>& answered) {
  // A lineage that another goes on from ends no run.
  std::stable_sort(lineages.begin(), lineages.end(),
                   [](const auto& a, const auto& b) { return a.horizon > b.horizon; });
  Prices prices;
  Bill together(trained, answered, prices);
  double slot_time = 0;
  double longest = 0;
  for (const LineageToTrain& lineage : lineages) {
    if (!IsKnown(lineage, trained)) return std::nullopt;
    slot_time += together.Pay(lineage);
    longest = std::max(longest, Bill(trained, answered, prices).Pay(lineage));
  }
  using Micro = std::chrono::duration<double, std::micro>;
  return TimesToTrain{Micro(slot_time), Micro(longest)};
}

}  // namespace espalier::master
