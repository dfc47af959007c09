// Reports to the master: numbered from 1, kept until acknowledged, sent again on each new stream.
// Not thread-safe; owned by the event loop.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "protocol/report.h"

namespace espalier::node {

class Outbox {
 public:
  // The report's number.
  std::int64_t Add(RunKey run, ReportKind kind);

  // Forgets the reports up to `number`; what was never given out is not acknowledged by it.
  void Acknowledge(std::int64_t number);

  std::int64_t acknowledged() const { return acknowledged_; }
  bool empty() const { return reports_.empty(); }
  std::size_t size() const { return reports_.size(); }
  bool HasReportOf(RunKey run) const { return count_of_run_.contains(run); }

  // At most `count_max` unacknowledged reports with numbers over `number`, in order.
  std::vector<Report> After(std::int64_t number, std::size_t count_max) const;

 private:
  std::deque<Report> reports_;  // numbers acknowledged_ + 1, acknowledged_ + 2, ...
  std::map<RunKey, int> count_of_run_;
  std::int64_t acknowledged_ = 0;
};

}  // namespace espalier::node
