// What a node manager does, as numbers for Prometheus.
#pragma once

#include <memory>
#include <string>

#include "monitoring/metrics_page.h"
#include "worker/node/core/core.h"

namespace espalier::node {

class NodeMeter {
 public:
  // Error: of MetricsPage::Open.
  static Result<std::unique_ptr<NodeMeter>> Open(const std::string& address);
  ~NodeMeter();

  // On the event loop, a few times a second: how things stand. O(runs).
  void Look(const Core& core, std::size_t workers, bool reaches_master);
  // What a worker has answered, and that one has died.
  void Count(const WorkerReply& reply);
  void CountDeath();

  int port() const { return page_->port(); }

 private:
  struct Families;
  explicit NodeMeter(std::unique_ptr<MetricsPage> page);

  std::unique_ptr<MetricsPage> page_;
  std::unique_ptr<Families> families_;
};

}  // namespace espalier::node
