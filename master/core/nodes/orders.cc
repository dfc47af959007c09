#include "master/core/nodes/orders.h"

#include <algorithm>
#include <span>
#include <utility>

#include "master/core/nodes/checks.h"
#include "master/core/nodes/saves_on_the_way.h"
#include "master/core/state/prices.h"
#include "master/core/views/running_work.h"
#include "master/core/views/trainer_standing.h"

namespace espalier::master {
namespace {

// A request that takes this many times what was measured, and at least the minimum, is a hang (design section 7).
constexpr double kHangFactor = 10;
constexpr Seconds kHangMinimum{600};

// For each kind of request, over the nodes of the path and the start, of which there is at least one; none where
// nothing of the kind was ever measured: nobody can tell what is too long, but for a step those who asked for it.
TimeLimits LimitsOf(std::span<NodePrices> nodes, const std::optional<Seconds>& hang_after) {
  TimeLimits limits;
  limits.train = hang_after;
  const std::pair<CostKind, std::optional<Seconds>*> kinds[] = {{CostKind::kSetUp, &limits.set_up},
                                                                {CostKind::kLoad, &limits.load},
                                                                {CostKind::kStep, &limits.train},
                                                                {CostKind::kEvaluate, &limits.evaluate},
                                                                {CostKind::kSave, &limits.save}};
  for (const auto& [kind, limit] : kinds) {
    if (!nodes.front().IsMeasured(kind)) continue;  // the same of all: they are of one kind of training
    *limit = kHangMinimum;
    for (NodePrices& prices : nodes) *limit = std::max(**limit, kHangFactor * prices.Time(kind));
  }
  return limits;
}

std::vector<std::int64_t> PeriodsOf(const MasterState& state, const Run& run) {
  std::set<std::int64_t> every;
  for (const StudyId study : run.serves) {
    const Study& served = state.studies.at(study);
    const bool is_measured_here = served.evaluation == run.evaluation;
    if (is_measured_here && served.specification.evaluate_every > 0) every.insert(served.specification.evaluate_every);
  }
  return {every.begin(), every.end()};
}

std::vector<Step> BarredEvaluations(const SearchPlan& plan, const Run& run) {
  std::vector<Step> barred;
  if (run.start && plan.FindEvaluationFailure(*run.start, run.evaluation) != nullptr) barred.push_back(run.start->step);
  for (const PathStage& stage : run.path) {
    for (const auto& [step, failures] : plan.Node(stage.node).results->evaluation_failures) {
      if (stage.from < step && step <= stage.to && failures.contains(run.evaluation)) barred.push_back(step);
    }
  }
  return barred;
}

Need NeedOf(const NeedIndex& needs, Point point) {
  const Place* place = needs.Find(point);
  if (place == nullptr) return Need::kOnTheWay;
  const bool is_claimed =
      std::ranges::any_of(place->waiting, [](const auto& each) { return !each.second.claims.empty(); });
  if (is_claimed) return Need::kClaim;
  return place->successors.empty() ? Need::kOnTheWay : Need::kBranch;
}

OrderTerms TermsOf(const Draft& draft, const SearchPlan& plan, const Run& run) {
  std::vector<NodePrices> prices = PricesAlong(draft.state(), run);
  const Seconds save_every =
      draft.settings.save_every_steps > 0 ? Seconds(0) : SavePeriod(prices, draft.settings.between_failures);
  if (run.start) prices.push_back(PricesOf(draft.state(), plan, plan.Node(run.start->node)));
  OrderTerms terms{.generation = run.generation,
                   .promises = {},
                   .preempt = run.preempt,
                   .evaluate_every = PeriodsOf(draft.state(), run),
                   .barred_evaluations = BarredEvaluations(plan, run),
                   .save_every = save_every,
                   .limits = LimitsOf(prices, HangAfterOf(draft.state(), run))};
  const NeedIndex& needs = draft.state().index.needs.at(run.plan);
  for (const auto& [id, promise] : run.promises) {
    if (promise.state != PromiseState::kOpen) continue;
    const bool is_state = promise.owed == Owed::kState;
    const Need need = is_state ? NeedOf(needs, PointOf(run, promise.step)) : Need::kOnTheWay;
    terms.promises.push_back({id, promise.step, promise.owed, need});
  }
  std::sort(terms.promises.begin(), terms.promises.end(), [](const OrderedPromise& a, const OrderedPromise& b) {
    return std::tie(a.step, a.owed, a.id) < std::tie(b.step, b.owed, b.id);
  });
  return terms;
}

// Cost: the node's depth.
const PlanNode& RootOf(const SearchPlan& plan, const PlanNode& node) {
  const PlanNode* root = &node;
  while (root->parent) root = &plan.Node(*root->parent);
  return *root;
}

Order OrderOf(const Draft& draft, const Run& run) {
  const SearchPlan& plan = draft.state().plans.at(run.plan);
  Order order{.run = {run.leadership, run.id},
              .slot = run.slot.index,
              .reservation = run.reservation,
              .plan = run.plan,
              .offer = draft.state().offers.at(run.offer).offer,
              .step = plan.identity.training.step,
              .start = {},
              .path = {},
              .terms = TermsOf(draft, plan, run)};
  if (run.start) {
    const PlanNode& node = plan.Node(run.start->node);
    const StateDigest* state = plan.FindStateDigest(*run.start);
    order.start = OrderedStart{.point = *run.start,
                               .file = run.start_file,
                               .state_sha256 = state == nullptr ? std::string() : state->sha256,
                               .configuration = node.configuration,
                               .lineage = node.lineage,
                               .root = RootOf(plan, node).configuration,
                               .of_other_code = OriginAt(plan, *run.start) != nullptr};
  }
  for (const PathStage& stage : run.path) {
    const PlanNode& node = plan.Node(stage.node);
    order.path.push_back({stage, node.configuration, node.lineage});
  }
  return order;
}

}  // namespace

void TellServers(Draft& draft) {
  for (const std::string& name : draft.touched.servers) {
    const auto it = draft.state().servers.find(name);
    if (it == draft.state().servers.end() || !it->second.session) continue;
    const Server& server = it->second;
    SendOrders send{.session = *server.session,
                    .orders = {.acknowledged_report = server.acknowledged_report,
                               .references = WantedReferences(draft.state()),
                               .draining = IsDraining(draft.state(), server),
                               .checks = ChecksOn(draft.state(), server)}};
    const std::set<RunId>& runs = ActiveRunsOf(draft.state(), name);
    send.orders.orders.reserve(runs.size());
    for (const RunId id : runs) {
      const Run& run = draft.state().runs.at(id);
      if (run.incarnation == server.incarnation) send.orders.orders.push_back(OrderOf(draft, run));
    }
    send.orders.superseded_files.assign(draft.superseded_files.begin(), draft.superseded_files.end());
    draft.Emit(std::move(send));
  }
}

}  // namespace espalier::master
