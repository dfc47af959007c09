// Node managers that train nothing: they offer a trainer of five hyper-parameters, stand at the beginning of every run
// that they are given, and report of it what a bench tells them to, over the real stream. Owned by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/service.h"
#include "client/study_specification.h"
#include "protocol/offer.h"
#include "protocol/order.h"
#include "protocol/report.h"

namespace espalier::bench {

class StubNodes {
 public:
  // So many servers, "stub-0", "stub-1", ..., each with so many slots; without slots they only offer. Returns when the
  // master knows them, and so the trainer.
  explicit StubNodes(const Service& service, int servers = 1, int slots = 0);
  ~StubNodes();

  // The next order, of whichever server, that was not returned before; waits for it.
  Order AwaitOrder();

  // By the server that was given the run. Does not wait. As a node manager's, reports go out one message at a time,
  // each with all that is there by then, up to 1,000.
  void Report(const Order& order, std::vector<ReportKind> kinds);
  // All of a run that keeps its promises and ends, every metric of which has the value.
  void ReportFinished(const Order& order, double value);
  // Returns when everything that was reported is stored.
  void WaitUntilStored();

 private:
  struct Orders;
  struct Stream;
  const std::unique_ptr<Orders> orders_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

// With the stub's offer.
Registration StubRegistration(const std::string& server, int slots);

// Of the stub's trainer, shared among the team, by accuracy.
StudySpecification StubStudy(const std::string& name);

}  // namespace espalier::bench
