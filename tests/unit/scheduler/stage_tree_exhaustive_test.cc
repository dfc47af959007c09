// Stage trees of all small search plans against what going step by step finds. Symmetric plans are left out: nodes are
// in the order of (parent, start), claims in that of their points, every leaf is claimed, evaluations are named in the
// order in which they come, and a second root, which shares nothing, stands in plans of up to three nodes alone. Where
// two things are held, both are on a claim's way, and no step below the last lies idle: the order of steps is all that
// tells such plans apart; the others have every distance.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/plan_builder.h"
#include "tests/support/rounds.h"
#include "tests/unit/scheduler/step_by_step.h"

namespace espalier {
namespace {

constexpr std::size_t kNodesMax = 4;
constexpr std::size_t kNodesOfTwoRootsMax = 3;
constexpr int kStepsMax = 5;
constexpr std::size_t kClaimsMax = 3;

struct SmallNode {
  int parent;  // 0: a root
  int start;
  friend auto operator<=>(const SmallNode&, const SmallNode&) = default;
};
using Shape = std::vector<SmallNode>;  // nodes 1, 2, ...

struct SmallClaim {
  Point point;
  bool another = false;  // whether by the second of two evaluations
};

// A checkpoint, or the promise of a run of its own.
struct Held {
  Point point;
  std::optional<Owed> promise;
  bool another = false;
};

std::string Evaluation(bool another) { return another ? "another" : "evaluation"; }

template <class Visit>
void ForShapes(Shape& shape, const Visit& visit) {
  visit(shape);
  const auto roots = std::count(shape.begin(), shape.end(), SmallNode{0, 0});
  if (shape.size() == (roots == 1 ? kNodesMax : kNodesOfTwoRootsMax)) return;
  const bool may_add_root = roots == 1 && shape.size() < kNodesOfTwoRootsMax;
  for (int parent = may_add_root ? 0 : 1; parent <= static_cast<int>(shape.size()); ++parent) {
    const int first = parent == 0 ? 0 : shape[parent - 1].start + 1;
    const int last = parent == 0 ? 0 : kStepsMax - 1;
    for (int start = first; start <= last; ++start) {
      const SmallNode node{parent, start};
      if (shape.size() > 1 && node < shape.back()) continue;
      shape.push_back(node);
      ForShapes(shape, visit);
      shape.pop_back();
    }
  }
}

// The plans of one shape.
class Plans {
 public:
  explicit Plans(const Shape& shape) : shape_(shape) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const int id = static_cast<int>(i) + 1;
      bare_.Node(id, shape[i].parent, shape[i].start);
      for (int step = shape[i].start + 1; step <= kStepsMax; ++step) points_.push_back(At(id, step));
      if (shape[i].start > 0) starts_ |= 1 << shape[i].start;
    }
  }

  template <class Visit>
  void ForEach(const Visit& visit) {
    ForClaims(0, [&] { ForHeld(visit); });
  }

 private:
  template <class Visit>
  void ForClaims(std::size_t first_point, const Visit& visit) {
    if (AreLeavesClaimed()) visit();
    if (claims_.size() == kClaimsMax) return;
    for (std::size_t i = first_point; i < points_.size(); ++i) {
      const bool again = !claims_.empty() && claims_.back().point == points_[i];
      for (const bool another : {false, true}) {
        if (another && !again) continue;
        if (again && claims_.back().another && !another) continue;
        claims_.push_back({points_[i], another});
        ForClaims(i, visit);
        claims_.pop_back();
      }
    }
  }

  bool AreLeavesClaimed() const {
    for (int id = 1; id <= static_cast<int>(shape_.size()); ++id) {
      const bool parent = std::any_of(shape_.begin(), shape_.end(), [id](SmallNode one) { return one.parent == id; });
      const bool claimed = std::any_of(claims_.begin(), claims_.end(),
                                       [id](const SmallClaim& claim) { return claim.point.node == PlanNodeId{id}; });
      if (!parent && !claimed) return false;
    }
    return true;
  }

  template <class Visit>
  void ForHeld(const Visit& visit) const {
    SearchPlan plan = bare_;
    std::set<Point> on_a_way;
    int steps = starts_;
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      const SmallClaim& claim = claims_[i];
      const ClaimId id{static_cast<std::int64_t>(i) + 1};
      const TrialId trial{id.value % 2};  // the first and the third claim are one trial's
      Apply(plan, AddClaim{{.id = id, .trial = trial, .point = claim.point, .evaluation = Evaluation(claim.another)}});
      for (std::optional<Point> point = claim.point; point; point = Before(plan, *point)) on_a_way.insert(*point);
      steps |= 1 << claim.point.step.value;
    }
    const std::vector<Held> all = AllHeld();
    Hold(plan, {}, visit);
    for (std::size_t i = 0; i < all.size(); ++i) {
      Hold(plan, {all[i]}, visit);
      for (std::size_t j = 0; j < i; ++j) {
        const bool is_of_use = on_a_way.contains(all[i].point) && on_a_way.contains(all[j].point);
        const int all_steps = steps | 1 << all[i].point.step.value | 1 << all[j].point.step.value;
        const bool is_dense = (all_steps & (all_steps + 2)) == 0;  // bits 1 to the last are set
        if (is_of_use && is_dense) Hold(plan, {all[j], all[i]}, visit);
      }
    }
  }

  std::vector<Held> AllHeld() const {
    std::vector<Held> all;
    for (const Point point : points_) {
      all.push_back({point, std::nullopt});
      all.push_back({point, Owed::kState});
      const bool claimed =
          std::any_of(claims_.begin(), claims_.end(), [&](auto& claim) { return claim.point == point; });
      if (!claimed) continue;
      all.push_back({point, Owed::kMetrics, false});
      all.push_back({point, Owed::kMetrics, true});
    }
    return all;
  }

  template <class Visit>
  static void Hold(SearchPlan& plan, const std::vector<Held>& held, const Visit& visit) {
    std::vector<RunView> runs;
    for (const Held& one : held) {
      if (one.promise) {
        runs.push_back(RunTo(plan, one, RunId{static_cast<std::int64_t>(runs.size()) + 1}));
      } else {
        Apply(plan, SetCheckpoint{one.point, {.file = "file"}, {}});
      }
    }
    visit(plan, runs);
    for (const Held& one : held) {
      if (!one.promise) Apply(plan, DropCheckpoint{one.point, "file"});
    }
  }

  static RunView RunTo(const SearchPlan& plan, const Held& held, RunId id) {
    RunView run{.id = id, .path = {}, .evaluation = Evaluation(held.another)};
    Step to = held.point.step;
    for (std::optional<PlanNodeId> node = held.point.node; node; node = plan.Node(*node).parent) {
      run.path.insert(run.path.begin(), {*node, plan.Node(*node).start, to});
      to = plan.Node(*node).start;
    }
    run.promises = {{held.point.step, *held.promise}};
    return run;
  }

  const Shape& shape_;
  TestPlan bare_;
  std::vector<Point> points_;
  int starts_ = 0;  // a bit for each step
  std::vector<SmallClaim> claims_;
};

}  // namespace

TEST_CASE("stage trees hold the untrained claimed work, each step once and ready in time, for all small plans") {
  std::int64_t count = 0;
  Shape shape{{0, 0}};
  ForShapes(shape, [&count](const Shape& one) {
    Plans(one).ForEach([&count](const SearchPlan& plan, const std::vector<RunView>& runs) {
      if (++count % 5 >= Rounds(5)) return;
      const StageTree tree = BuildStageTree(plan, runs);
      if (IsLinkedWell(tree) && FactsOf(tree) == ExpectedStages(plan, runs)) return;
      FAIL("plan " << count << " has the stages\n" << Print(tree));
    });
  });
  CHECK(count == 720'968);
}

}  // namespace espalier
