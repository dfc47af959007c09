// Training metrics out of what is committed, in memory: for tests of what surrounds a series store. Thread-safe.
#pragma once

#include <algorithm>
#include <mutex>

#include "master/core/series_store.h"
#include "master/core/state/state_edit.h"

namespace espalier::master {

class MemorySeriesStore : public SeriesStore {
 public:
  void Take(const StateEdit& committed) {
    const std::lock_guard lock(mutex_);
    for (const StateChange& change : committed) {
      const auto* added = std::get_if<AddTrainingMetrics>(&change);
      if (added != nullptr) stored_.push_back(*added);
    }
  }

  // A batch at a time.
  Result<std::vector<StoredSeries>> Read(const SeriesQuery& query) override {
    const std::lock_guard lock(mutex_);
    for (auto number = static_cast<std::size_t>(query.after); number < stored_.size(); ++number) {
      const auto range = std::ranges::find(query.lineage, stored_[number].node, &StepRange::node);
      if (range == query.lineage.end()) continue;
      return Columns(static_cast<std::int64_t>(number) + 1, stored_[number].series, range->to);
    }
    return std::vector<StoredSeries>();
  }

 private:
  static std::vector<StoredSeries> Columns(std::int64_t number, const MetricSeries& series, Step to) {
    std::vector<StoredSeries> columns;
    for (std::size_t name = 0; name < series.names.size(); ++name) {
      StoredSeries& column = columns.emplace_back(StoredSeries{number, series.names[name], {}, {}});
      for (std::size_t at = 0; at < series.steps.size() && series.steps[at] <= to; ++at) {
        column.steps.push_back(series.steps[at]);
        column.values.push_back(series.values[at * series.names.size() + name]);
      }
    }
    return columns;
  }

  std::mutex mutex_;
  std::vector<AddTrainingMetrics> stored_;
};

}  // namespace espalier::master
