// The port to training metrics as they were kept. The event loop writes them as it writes everything
// (AddTrainingMetrics), and holds none. Thread-safe; calls wait for the database, so the event loop makes none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "searchplan/plan/step_set.h"

namespace espalier::master {

// One metric at steps of a lineage, in their order, as it was stored at one go.
struct StoredSeries {
  std::int64_t number = 0;  // counts up as batches are stored
  std::string name;
  std::vector<Step> steps;
  std::vector<double> values;  // one for each step
  friend bool operator==(const StoredSeries&, const StoredSeries&) = default;
};

struct SeriesQuery {
  std::vector<StepRange> lineage;
  std::int64_t after = 0;  // those stored behind that number
};

inline constexpr std::int64_t kSeriesPageSteps = 20'000;

class SeriesStore {
 public:
  virtual ~SeriesStore() = default;

  // In the order in which they were stored, as many as have kSeriesPageSteps steps together, one at least; fewer only
  // at the end. Steps that were trained again may be in several. Error: kUnavailable.
  virtual Result<std::vector<StoredSeries>> Read(const SeriesQuery& query) = 0;
};

}  // namespace espalier::master
