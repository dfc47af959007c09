// Least squares over many nodes, kept as exact sums: a node's part can be replaced, sums of disjoint nodes can be
// added, and the answer depends on what was added, not on when.
//
// Exact, because all are integers that cannot overflow. A sum of weight * x * y has magnitude below 2^126:
//   weight <= 2^10 a node, fewer than 2^28 nodes: together < 2^38; features |x| <= 2^44 (cost_features.h); targets
//   0 <= y <= 2^44 (half a year in microseconds, 17 TB).
//
// Only features that differ among the nodes have columns, at most 48: the first by CostFeature's order. A feature that
// has had one value in all nodes so far needs none: its column, when it starts to differ, is that value times the
// others' sums. So no node is ever visited again, and thousands of constant hyper-parameters cost nothing at solving.
//
// A value. Not thread-safe, not even for reading: the solution is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/cost_features.h"

namespace espalier {

// What a node brings: its target times its weight, and the weight. None: weight 0.
struct WeightedTarget {
  std::int64_t weight = 0;  // <= kWeightMax
  std::int64_t total = 0;   // 0 to weight * kTargetMax
  friend bool operator==(const WeightedTarget&, const WeightedTarget&) = default;
};
inline constexpr std::int64_t kWeightMax = std::int64_t{1} << 10;
inline constexpr std::int64_t kTargetMax = std::int64_t{1} << 44;
inline constexpr std::int64_t kRegressedNodeCountMax = (std::int64_t{1} << 28) - 1;
inline constexpr std::size_t kColumnCountMax = 48;

class RegressionSums {
 public:
  // A node of these features brings `after`, and brought `before`. With n features and c columns: O(n + c^2), and
  // O(c^2) for each column that is new. REQUIRES: `before` is what was last given of this node; `after` has a weight:
  // who was measured stays measured.
  void Replace(const Features& features, WeightedTarget before, WeightedTarget after);

  // With the nodes of `other`, all of them others. O(n + c^2), as above.
  RegressionSums& operator+=(RegressionSums other);

  bool empty() const { return node_count_ == 0; }

  // By ridge regression on the columns; each feature counts as the nearest value that was measured. O(n + c), after a
  // change O(c^3). The same bits whatever order the nodes came in, and on every machine. REQUIRES: not empty.
  double Predict(const Features& features) const;

  // That the sums are the same; then so is every prediction.
  friend bool operator==(const RegressionSums& a, const RegressionSums& b);

 private:
  using Int128 = __int128;

  struct Column {
    CostFeature feature;
    std::int64_t least = 0;  // of the values of all nodes
    std::int64_t most = 0;
    Int128 sum = 0;                // of weight * value
    Int128 with_target = 0;        // of weight * value * target
    std::vector<Int128> products;  // of weight * value * the value in column j, for each j up to this column
    friend bool operator==(const Column&, const Column&) = default;
  };
  struct Solution {
    std::vector<double> means;  // a column
    std::vector<double> slopes;
  };

  void Enter(const Features& features);
  void Vary(const CostFeature& feature);
  std::int64_t TakeConstant(const CostFeature& feature);
  // Of the columns.
  std::vector<std::int64_t> ValuesOf(const Features& features) const;
  Solution Solve() const;

  std::int64_t node_count_ = 0;
  std::int64_t weight_ = 0;
  Int128 total_ = 0;
  std::vector<Column> columns_;  // by feature
  // Of the features without a column, the value in all nodes; once there are kColumnCountMax columns, only of those
  // that come before the last column: others cannot get one any more.
  Features constants_;
  mutable std::optional<Solution> solution_;  // none: to be solved
};

}  // namespace espalier
