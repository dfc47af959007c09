// Room in the checkpoint store for states that found none, and how much of it is still to be made. While one waits,
// what others store is made room for, too: else many small states would take what was made for a large one, for as long
// as they come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>

#include "base/ids.h"

namespace espalier::master {

// Each call is O(log runs that wait).
class RoomWanted {
 public:
  // The store has no room for a state of so many bytes of the run, whatever was made before.
  void Want(RunId run, std::int64_t bytes) {
    waiting_.insert(run);
    Add(bytes);
  }
  // So many bytes of the run are in the store.
  void Stored(RunId run, std::int64_t bytes) {
    if (!waiting_.contains(run)) {
      if (!waiting_.empty()) Add(bytes);
      return;
    }
    Forget(run);
  }
  // The run stores nothing more.
  void Forget(RunId run) {
    waiting_.erase(run);
    if (waiting_.empty()) to_make_ = 0;
  }
  // So many bytes are being removed from the store.
  void Made(std::int64_t bytes) { to_make_ = std::max<std::int64_t>(0, to_make_ - bytes); }

  std::int64_t to_make() const { return to_make_; }

  friend bool operator==(const RoomWanted&, const RoomWanted&) = default;

 private:
  static constexpr std::int64_t kMost = std::int64_t{1} << 62;
  void Add(std::int64_t bytes) { to_make_ = std::min(to_make_, kMost - bytes) + bytes; }

  std::set<RunId> waiting_;
  std::int64_t to_make_ = 0;  // 0 while none waits
};

}  // namespace espalier::master
