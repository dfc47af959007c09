#include "master/monitoring/service_meter.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include <mutex>

#include "base/clock.h"
#include "master/monitoring/state_gauges.h"

namespace espalier::master {
namespace {

using prometheus::Histogram;

// Seconds; from a hundredth of the millisecond that an event may take to a hundred times it.
const Histogram::BucketBoundaries kCosts{1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 1};
const Histogram::BucketBoundaries kCommitTimes{3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1, 3, 10};
const Histogram::BucketBoundaries kSizes{1, 3, 10, 30, 100, 300, 1'000, 3'000, 10'000, 50'000};

// What kinds of events there are: a new call does not compile without a name.
struct NameOf {
  const char* operator()(const CreateStudy&) const { return "create_study"; }
  const char* operator()(const SubmitBatch&) const { return "submit"; }
  const char* operator()(const CancelStudy&) const { return "cancel_study"; }
  const char* operator()(const PinStudy&) const { return "pin_study"; }
  const char* operator()(const ContinueTrial&) const { return "continue_trial"; }
  const char* operator()(const RetryStage&) const { return "retry_stage"; }
  const char* operator()(const AddUser&) const { return "add_user"; }
  const char* operator()(const RemoveUser&) const { return "remove_user"; }
  const char* operator()(const DrainServer&) const { return "drain_server"; }
  const char* operator()(const ChoosePolicy&) const { return "choose_policy"; }
  const char* operator()(const WeighTeam&) const { return "weigh_team"; }
  const char* operator()(const WeighStudy&) const { return "weigh_study"; }
  const char* operator()(const LimitParty&) const { return "limit_party"; }
  const char* operator()(const PutArchive&) const { return "put_archive"; }
  const char* operator()(const DescribeTrainer&) const { return "describe_trainer"; }
  const char* operator()(const ClientCall& call) const { return std::visit(*this, call.what); }
  const char* operator()(const NodeMessage& message) const {
    return message.registration ? "registration" : message.reports.empty() ? "position" : "report";
  }
  const char* operator()(const NodeGone&) const { return "node_gone"; }
  const char* operator()(const Tick&) const { return "tick"; }
  const char* operator()(const Recovered&) const { return "recovered"; }
  const char* operator()(const CurveAnalysed&) const { return "curve_analysed"; }
};

}  // namespace

struct ServiceMeter::Families {
  explicit Families(prometheus::Registry& registry)
      : events(prometheus::BuildHistogram()
                   .Name("espalier_event_seconds")
                   .Help("Processor time of the loop's thread for an event, by its kind")
                   .Register(registry)),
        commit_seconds(prometheus::BuildHistogram()
                           .Name("espalier_commit_seconds")
                           .Help("Time of a transaction; nobody is answered before")
                           .Register(registry)
                           .Add({}, kCommitTimes)),
        commit_changes(prometheus::BuildHistogram()
                           .Name("espalier_commit_changes")
                           .Help("Changes that one transaction makes durable together")
                           .Register(registry)
                           .Add({}, kSizes)),
        commit_failures(prometheus::BuildCounter()
                            .Name("espalier_commit_failures_total")
                            .Help("Transactions that failed: the state was loaded anew")
                            .Register(registry)
                            .Add({})) {}

  prometheus::Family<Histogram>& events;
  Histogram& commit_seconds;
  Histogram& commit_changes;
  prometheus::Counter& commit_failures;
};

namespace {

template <class Measure>
class MeasuredStore : public StateStore {
 public:
  MeasuredStore(StateStore& store, Measure measure) : store_(store), measure_(std::move(measure)) {}
  Result<MasterState> Load() override { return store_.Load(); }
  Result<void> Commit(const StateEdit& edit) override {
    const Seconds begun = MonotonicNow();
    Result<void> committed = store_.Commit(edit);
    measure_(edit.size(), MonotonicNow() - begun, committed.has_value());
    return committed;
  }

 private:
  StateStore& store_;
  const Measure measure_;
};

}  // namespace

// What the loop tells when it is asked. A page that is read while no state is loaded says that this master does not
// lead.
class ServiceMeter::OfLoop : public prometheus::Collectable {
 public:
  void Watch(EventLoop* loop, std::int64_t epoch) {
    const std::lock_guard lock(mutex_);
    loop_ = loop;
    epoch_ = epoch;
  }
  void Forget() {
    const std::lock_guard lock(mutex_);
    loop_ = nullptr;
  }

  std::vector<prometheus::MetricFamily> Collect() const override {
    const std::lock_guard lock(mutex_);
    std::vector<prometheus::MetricFamily> families;
    const bool leads =
        loop_ != nullptr && loop_->Read([&](const MasterState& state) { families = StateGauges(state); }).has_value();
    if (!leads) families.clear();
    families.push_back(GaugeFamily("espalier_leads", "1 if this master leads and has its state loaded"));
    AddGauge(families.back(), leads ? 1 : 0);
    families.push_back(
        GaugeFamily("espalier_leader_epoch", "Of this master, the last time that it led: one more at each change"));
    AddGauge(families.back(), static_cast<double>(epoch_));
    families.push_back(GaugeFamily("espalier_events_waiting", "Events and reads that wait for the loop"));
    AddGauge(families.back(), loop_ == nullptr ? 0 : static_cast<double>(loop_->waiting()));
    return families;
  }

 private:
  mutable std::mutex mutex_;  // held while the loop is asked: it stays until then
  EventLoop* loop_ = nullptr;
  std::int64_t epoch_ = 0;
};

Result<std::unique_ptr<ServiceMeter>> ServiceMeter::Open(const std::string& address) {
  ESPALIER_ASSIGN(std::unique_ptr<MetricsPage> page, MetricsPage::Open(address));
  return std::unique_ptr<ServiceMeter>(new ServiceMeter(std::move(page)));
}

ServiceMeter::ServiceMeter(std::unique_ptr<MetricsPage> page)
    : families_(std::make_unique<Families>(page->registry())),
      of_loop_(std::make_shared<OfLoop>()),
      page_(std::move(page)) {
  page_->Add(of_loop_);
}

ServiceMeter::~ServiceMeter() = default;

EventHandler ServiceMeter::Measured(EventHandler handler) {
  return [this, handler = std::move(handler)](MasterState& state, const Event& event, Time now) {
    const Seconds begun = ThreadTime();
    Transition transition = handler(state, event, now);
    families_->events.Add({{"event", std::visit(NameOf{}, event)}}, kCosts).Observe((ThreadTime() - begun).count());
    return transition;
  };
}

std::unique_ptr<StateStore> ServiceMeter::Measured(StateStore& store) {
  const auto measure = [this](std::size_t changes, Seconds time, bool committed) {
    families_->commit_seconds.Observe(time.count());
    families_->commit_changes.Observe(static_cast<double>(changes));
    if (!committed) families_->commit_failures.Increment();
  };
  return std::make_unique<MeasuredStore<decltype(measure)>>(store, measure);
}

void ServiceMeter::Watch(EventLoop& loop, std::int64_t epoch) { of_loop_->Watch(&loop, epoch); }
void ServiceMeter::Forget() { of_loop_->Forget(); }
int ServiceMeter::port() const { return page_->port(); }

}  // namespace espalier::master
