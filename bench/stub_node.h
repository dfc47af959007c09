// Node managers that train nothing: they offer a trainer of five hyper-parameters, stand at the beginning of every run
// that they are given, and report what a bench tells them to, over the real stream. Owned by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "base/units.h"
#include "bench/service.h"
#include "client/study_specification.h"
#include "protocol/offer.h"

namespace espalier::bench {

// A metric at a point of a plan.
struct MetricReport {
  PlanNodeId node;
  Digest128 lineage;  // of the node: a master takes no metrics that do not carry it
  Step step;
  double accuracy = 0;
};

// Of trial `number`, counted from 0, of the shape kOneNode: each has a plan node of its own, behind the one that all
// share, which comes first.
MetricReport ReportOf(std::int64_t number, Step step, double accuracy);

class StubNode {
 public:
  // Registers; returns when the master knows the trainer.
  explicit StubNode(const Service& service, int slot_count = 0, const std::string& server = "stub");
  ~StubNode();

  // Does not wait. As a node manager's, reports go out one message at a time, each with all that is there by then, up
  // to 1,000. The plan of all points is 1: a bench has one.
  void Report(const std::vector<MetricReport>& reports);
  // Returns when everything that was reported is stored.
  void WaitUntilStored();

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

// With the stub's offer.
Registration StubRegistration(int slot_count, const std::string& server = "stub");

// A cluster at work: so many servers, each with eight slots, all of which train as soon as there are trials.
class StubCluster {
 public:
  StubCluster(const Service& service, std::int64_t servers);

  // Each report by one of the servers, in turn.
  void Report(const std::vector<MetricReport>& reports);
  void WaitUntilStored();

 private:
  std::vector<std::unique_ptr<StubNode>> nodes_;
  std::size_t next_ = 0;
};

// Of the stub's trainer, shared among the team, by accuracy.
StudySpecification StubStudy(const std::string& name);

}  // namespace espalier::bench
