// The states that a run saves, by step. Each is written by the worker into staging, then on its way into the store,
// then stored; or it is lost on the way. Invariant: at a step the run saves at most once. Not thread-safe; owned by the
// runner.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/units.h"

namespace espalier::node {

class RunSaves {
 public:
  // The worker was asked to write the state at `step` into `staged`. REQUIRES: not Begun(step).
  void Begin(Step step, std::string staged, Seconds now);

  // It is still being written.
  void OnHeartbeat(Step step, Seconds now);
  // The file is whole; how long that took. Nothing if it was not being written any more: it was given up.
  std::optional<Seconds> OnWritten(Step step, Seconds now);
  void OnStored(Step step);
  // It will not be stored. Its staged file, which may be there or not; nothing if it was not under way.
  std::optional<std::string> Lose(Step step);

  // Also those that are stored or lost.
  bool Begun(Step step) const { return saves_.contains(step); }
  bool IsLost(Step step) const;
  // Being written or on its way into the store.
  bool IsUnderWay(Step step) const;

  std::vector<Step> UnderWay() const;
  // Of those, the ones that the worker still writes, or has been writing for longer than `limit` since it was last
  // heard.
  std::vector<Step> BeingWritten() const;
  std::vector<Step> Overdue(Seconds limit, Seconds now) const;

 private:
  struct Writing {
    Seconds asked_at{0};
    Seconds heard_at{0};  // or asked
    std::string staged;
  };
  struct Uploading {
    std::string staged;
  };
  struct Stored {};
  struct Lost {};

  std::map<Step, std::variant<Writing, Uploading, Stored, Lost>> saves_;
};

}  // namespace espalier::node
