#include "worker/node/core/outbox.h"

#include <algorithm>

namespace espalier::node {

std::int64_t Outbox::Add(RunKey run, ReportKind kind) {
  const std::int64_t number = acknowledged_ + static_cast<std::int64_t>(reports_.size()) + 1;
  reports_.push_back({number, run, std::move(kind)});
  ++count_of_run_[run];
  return number;
}

void Outbox::Acknowledge(std::int64_t number) {
  while (!reports_.empty() && reports_.front().number <= number) {
    const auto it = count_of_run_.find(reports_.front().run);
    if (--it->second == 0) count_of_run_.erase(it);
    acknowledged_ = reports_.front().number;
    reports_.pop_front();
  }
}

std::vector<Report> Outbox::After(std::int64_t number, std::size_t count_max) const {
  const std::int64_t skip = std::clamp<std::int64_t>(number - acknowledged_, 0, std::ssize(reports_));
  const auto first = reports_.begin() + skip;
  const auto count = std::min<std::int64_t>(std::ssize(reports_) - skip, static_cast<std::int64_t>(count_max));
  return {first, first + count};
}

}  // namespace espalier::node
