// The simulated server's side of its stream to the master: what worker/node/uplink.cc is to the real one.
#include <algorithm>

#include "sim/node_process.h"

namespace espalier::sim {
namespace {

constexpr Seconds kStatusPeriodMin{1};
constexpr Seconds kPauseFirst{0.1};
constexpr Seconds kPauseMax{2};
constexpr std::size_t kReportsInMessageMax = 1000;

bool SameButForSteps(const std::vector<RunStatus>& a, const std::vector<RunStatus>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const RunStatus& one, const RunStatus& other) {
    return one.run == other.run && one.generation == other.generation && one.state == other.state;
  });
}

}  // namespace

bool NodeProcess::AnythingNew(const Uplink& uplink, const std::vector<RunStatus>& statuses) const {
  return uplink.registered != registration_ ||
         world_.clock.now() - uplink.at >= std::max(kStatusPeriodMin, world_.nodes_tick_every) ||
         !SameButForSteps(statuses, uplink.statuses) || !core_->outbox().After(uplink.report, 1).empty();
}

void NodeProcess::Exchange() {
  if (!core_->knows_offers()) return;
  registration_.offers = core_->Offers();
  registration_.draining = core_->stopping();
  registration_.trouble = core_->Trouble();
  if (!uplink_) {
    if (world_.clock.now() < connect_at_) return;
    Connect();
  }
  const std::vector<RunStatus> statuses = core_->Statuses();
  if (!AnythingNew(*uplink_, statuses)) return;
  master::NodeMessage message{.runs = statuses,
                              .reports = core_->outbox().After(uplink_->report, kReportsInMessageMax),
                              .acknowledged_report = core_->outbox().acknowledged()};
  if (uplink_->registered != registration_) uplink_->registered = message.registration = registration_;
  if (!message.reports.empty()) uplink_->report = message.reports.back().number;
  uplink_->statuses = statuses;
  uplink_->at = world_.clock.now();
  network_.ToMaster(uplink_->session, std::move(message));
}

void NodeProcess::Connect() {
  connect_pause_ = std::clamp(2 * connect_pause_, kPauseFirst, kPauseMax);
  connect_at_ = world_.clock.now() + connect_pause_;
  const std::int64_t attempt = ++streams_;
  const auto is_this = [this, attempt, incarnation = incarnation_] {
    return incarnation == incarnation_ && attempt == streams_ && runs() && uplink_;
  };
  const master::SessionId session = network_.Connect(number_, {.on_orders =
                                                                   [this, is_this](const ServerOrders& orders) {
                                                                     if (is_this()) TakeOrders(orders);
                                                                   },
                                                               .on_ended =
                                                                   [this, is_this] {
                                                                     if (is_this()) uplink_.reset();
                                                                   }});
  uplink_ = Uplink{.session = session, .registered = {}, .statuses = {}};
}

// New orders are for something that it does not offer.
ServerOrders NodeProcess::Spoilt(ServerOrders orders) {
  for (Order& order : orders.orders) {
    if (ordered_.contains(order.run)) continue;
    order.offer.code_digest += " of another day";
    watcher_.refused(order.run);
  }
  return orders;
}

void NodeProcess::TakeOrders(const ServerOrders& orders) {
  connect_pause_ = Seconds(0);
  const std::int64_t known = core_->outbox().acknowledged();
  std::vector<Report> acknowledged = core_->outbox().After(known, kReportsInMessageMax);
  std::erase_if(acknowledged, [&](const Report& report) { return report.number > orders.acknowledged_report; });
  watcher_.acknowledged(acknowledged);
  const bool refuses = world_.clock.now() < refuse_until_;
  const node::Actions actions = core_->OnOrders(refuses ? Spoilt(orders) : orders, world_.clock.now());
  for (const Order& order : orders.orders) ordered_.insert(order.run);
  Do(actions);
  Exchange();
}

}  // namespace espalier::sim
