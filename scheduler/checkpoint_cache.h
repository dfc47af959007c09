// Which checkpoint goes first when they take more than their budget: the one with the largest cost-benefit ratio of
// Nectar (P. K. Gunda et al., Nectar: Automatic Management of Data and Computation in Datacenters, OSDI 2010,
// section 3.3):
//   (bytes x time since its last use) / (uses x time to remake it)
// What is needed never goes; what an open trial may go on from goes when nothing else is left.
//
// Ratios grow with time, each at its own slope, bytes / (uses x time to remake). So checkpoints of nearly the same
// slope (within a quarter) stand in one row, the one used longest ago first, and the first of all rows are compared:
// what is found has at least 4/5 of the largest ratio. There are as many rows as there are different slopes, at most
// some hundred. A value. Not thread-safe; owned by the event loop.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/point.h"
#include "base/units.h"
#include "base/wide_count.h"

namespace espalier {

// Why a checkpoint is kept.
enum class Standing {
  kNeeded,     // claims wait for what starts from it, or a run may have to
  kOpenTrial,  // a trial may be asked for more from there
  kIdle,       // it saves time if something comes
};

// What its ratio is made of.
struct CacheValue {
  std::int64_t uses = 1;      // >= 1: it was stored, and runs have started from it
  Time last_used{};           // stored, or started from
  WideCount remake_time = 1;  // microseconds, >= 1: training from the nearest state before it
  friend bool operator==(const CacheValue&, const CacheValue&) = default;
};

class CheckpointCache {
 public:
  // A checkpoint stands there; kNeeded until something else is said. O(log n).
  void Add(Point point, PlanId plan, std::int64_t bytes);
  void Remove(Point point);

  // REQUIRES: it was added. O(log n).
  void SetStanding(Point point, Standing standing, const CacheValue& value);
  // None: no checkpoint stands there. O(1).
  std::optional<Standing> StandingOf(Point point) const;

  struct Candidate {
    PlanId plan;
    Point point;
    CacheValue value;
    friend bool operator==(const Candidate&, const Candidate&) = default;
  };
  // What goes first; none: all that is left is needed. O(rows).
  std::optional<Candidate> First(Time now) const;

  // Of the one that stands there; 0: none does. O(1).
  std::int64_t BytesOf(Point point) const;
  // Calls `look` with point, plan and bytes of each, in no order.
  template <class Look>
  void ForEach(const Look& look) const {
    for (const auto& [point, entry] : entries_) look(point, entry.plan, entry.bytes);
  }

  // Of all checkpoints, needed or not. O(1).
  std::int64_t bytes() const { return bytes_; }
  // Of those that go before one that is kept for this, or among them. O(1).
  std::int64_t BytesThatGoBefore(Standing standing) const;
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    PlanId plan;
    std::int64_t bytes = 0;
    Standing standing = Standing::kNeeded;
    CacheValue value;
  };
  using Row = std::set<std::pair<Time, Point>>;  // by last use
  using Rows = std::map<int, Row>;               // by slope; none is empty

  Rows& RowsOf(Standing standing) { return standing == Standing::kIdle ? idle_ : open_; }
  std::int64_t& BytesIn(Standing standing) { return standing == Standing::kIdle ? idle_bytes_ : open_bytes_; }
  void Unlist(Point point, const Entry& entry);
  std::optional<Point> FirstOf(const Rows& rows, Time now) const;

  std::unordered_map<Point, Entry> entries_;
  Rows idle_;
  Rows open_;
  std::int64_t bytes_ = 0;
  std::int64_t idle_bytes_ = 0;
  std::int64_t open_bytes_ = 0;
};

}  // namespace espalier
