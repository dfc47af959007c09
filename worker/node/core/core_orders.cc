// The part of Core that takes orders, and what is acknowledged with them.
#include "worker/node/core/core.h"

namespace espalier::node {
namespace {

Step StartOf(const Order& order) { return order.start.has_value() ? order.start->point.step : Step{0}; }

}  // namespace

Actions Core::OnOrders(const ServerOrders& orders, Seconds now) {
  Actions actions;
  ordered_.clear();
  for (const Order& order : orders.orders) {
    ordered_.insert(order.run);
    TakeOver(order, now, actions);
  }
  for (auto& [key, run] : runs_) {
    if (ordered_.contains(key)) continue;
    RunnerActions wanted;
    run.runner.StopAtOnce(now, wanted);
    Carry(key, std::move(wanted), now, actions);
  }
  Acknowledge(orders.acknowledged_report, actions);
  EndAgain(orders.orders);
  RemoveSuperseded(orders.superseded_files, actions);
  references_.Want(orders.references, actions);
  WantChecks(orders.checks, actions);
  drained_ = orders.draining;
  AssignSlots(now, actions);
  return actions;
}

void Core::TakeOver(const Order& order, Seconds now, Actions& actions) {
  auto it = runs_.find(order.run);
  if (it == runs_.end()) {
    if (past_runs_.contains(order.run) || quit_before_.has_value()) return;
    if (const auto fits = CheckOrder(order, settings_.devices); !fits.has_value()) {
      return Refuse(order.run, StartOf(order), fits.error().field + ": " + fits.error().message);
    }
    it = runs_.emplace(order.run, RunHere{Runner(order), DigestOf(order.offer), NoFile{}}).first;
    if (order.start.has_value() && !StandsAtStart(it->second)) Fetch(it->second, actions);
  }
  RunnerActions wanted;
  it->second.runner.TakeOver(order.terms, now, wanted);
  Carry(order.run, std::move(wanted), now, actions);
}

// Nothing was begun, and nothing is owed: the master learns why, and goes elsewhere.
void Core::Refuse(RunKey run, Step start, const std::string& why) {
  past_runs_.insert(run);
  outbox_.Add(run, RunEnded{.step = start, .refused = why});
}

// The master has acknowledged their ends, and yet orders them: its database was restored from before. What they have
// come to meanwhile it does not know, and nobody will say it again.
void Core::EndAgain(const std::vector<Order>& orders) {
  for (const Order& order : orders) {
    const auto it = runs_.find(order.run);
    const bool is_past = it == runs_.end() ? past_runs_.contains(order.run)
                                           : it->second.runner.Status().state == RunStatus::State::kEnded;
    if (is_past && !outbox_.HasReportOf(order.run)) outbox_.Add(order.run, RunEnded{.step = StartOf(order)});
  }
}

void Core::RefuseNotOffered(Seconds now, Actions& actions) {
  if (!runtimes_.are_known()) return;
  for (auto& [key, run] : runs_) {
    if (!run.runner.waiting() || runtimes_.Offering(run.offer) != nullptr) continue;
    Release(run, actions);
    RunnerActions wanted;
    run.runner.Refuse("this server does not offer " + run.runner.order().offer.trainer + " with exactly these digests",
                      now, wanted);
    Carry(key, std::move(wanted), now, actions);
  }
}

void Core::Acknowledge(std::int64_t number, Actions& actions) {
  outbox_.Acknowledge(number);
  for (std::string& file : staging_.Acknowledge(outbox_.acknowledged())) {
    actions.push_back(DeleteStaged{std::move(file)});
  }
  std::erase_if(left_over_runs_, [&](const auto& item) {
    if (item.second > outbox_.acknowledged()) return false;
    actions.push_back(ForgetRun{item.first});
    return true;
  });
  ForgetEnded(actions);
}

void Core::ForgetEnded(Actions& actions) {
  for (auto it = runs_.begin(); it != runs_.end();) {
    auto& [key, run] = *it;
    const bool is_needed = run.runner.Status().state != RunStatus::State::kEnded || outbox_.HasReportOf(key);
    if (!is_needed && !std::exchange(run.is_forgotten, true)) actions.push_back(ForgetRun{key});
    if (is_needed || ordered_.contains(key)) {
      ++it;
      continue;
    }
    past_runs_.insert(key);
    it = runs_.erase(it);
  }
}

void Core::RemoveSuperseded(const std::vector<std::string>& files, Actions& actions) {
  std::set<std::string> now_superseded(files.begin(), files.end());
  for (const std::string& name : now_superseded) {
    if (!superseded_.contains(name)) actions.push_back(RemoveFromStore{name});
  }
  superseded_ = std::move(now_superseded);
}

}  // namespace espalier::node
