// Measures a master's own work for Prometheus: what each event costs the loop's thread, what commits take, what waits;
// and asks for the state's numbers when somebody reads the page. Made once; loops come and go while it is uncertain who
// leads.
#pragma once

#include <functional>
#include <memory>

#include "master/core/state/state_store.h"
#include "master/loop/event_loop.h"
#include "monitoring/metrics_page.h"

namespace espalier::master {

class ServiceMeter {
 public:
  // Error: of MetricsPage::Open.
  static Result<std::unique_ptr<ServiceMeter>> Open(const std::string& address);
  ~ServiceMeter();

  // The same handler, measured: two looks at the thread's clock an event. The meter outlives it.
  EventHandler Measured(EventHandler handler);
  // The same store, measured. Meter and store outlive it.
  std::unique_ptr<StateStore> Measured(StateStore& store);

  // From now on the page shows what the loop of that epoch has in mind and in its queue. It does no more once Forget
  // has returned.
  void Watch(EventLoop& loop, std::int64_t epoch);
  void Forget();

  int port() const;

 private:
  struct Families;
  class OfLoop;
  explicit ServiceMeter(std::unique_ptr<MetricsPage> page);

  std::unique_ptr<Families> families_;
  std::shared_ptr<OfLoop> of_loop_;
  std::unique_ptr<MetricsPage> page_;  // first to end: it asks the others
};

}  // namespace espalier::master
