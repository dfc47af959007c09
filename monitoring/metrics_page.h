// The page that Prometheus reads from a program, `/metrics`, on a port of this machine: what is measured, in the text
// format of its version 0.0.4 (prometheus.io, Exposition formats).
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/registry.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace prometheus {
class Exposer;
}

namespace espalier {

class MetricsPage {
 public:
  // Serves at once, on threads of its own. `address`: "127.0.0.1:9464", loopback alone: whoever can reach the page may
  // read it. Errors: kInvalidArgument with the field `metrics_address`; kUnavailable if it cannot be listened on.
  static Result<std::unique_ptr<MetricsPage>> Open(const std::string& address);
  ~MetricsPage();

  // For counts that change as things happen. Lives as long as the page.
  prometheus::Registry& registry() { return *registry_; }
  // Asked each time somebody reads the page, on a thread of the page's, for as long as it lives.
  void Add(const std::weak_ptr<prometheus::Collectable>& collectable);
  int port() const;

 private:
  explicit MetricsPage(std::unique_ptr<prometheus::Exposer> exposer);

  std::shared_ptr<prometheus::Registry> registry_ = std::make_shared<prometheus::Registry>();
  std::unique_ptr<prometheus::Exposer> exposer_;  // first to end
};

// One value of a family: of these labels, or of none.
void AddGauge(prometheus::MetricFamily& family, double value, std::vector<prometheus::ClientMetric::Label> labels = {});
prometheus::MetricFamily GaugeFamily(std::string name, std::string help);

}  // namespace espalier
