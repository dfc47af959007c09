// The states in this server's staging folder: those on their way into the store, and those that are stored and stay
// until the master has taken the report. Put a few at a time, the most needed first (Need; of equals the oldest). What
// the store does not take now is tried again after pauses that grow, for as long as it takes; once it takes one, all
// are tried at once. Bounded: HasRoomFor says whether another state may be begun. Not thread-safe; owned by the core.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "worker/node/core/action.h"
#include "worker/node/core/retry_pause.h"

namespace espalier::node {

// So many that a link is used well, so few that the first is soon there.
inline constexpr int kUploadsAtOnce = 4;

// A whole staged file, and what is reported of it once it is stored.
struct Upload {
  StateStored state;
  std::string staged;
};

class Staging {
 public:
  // `room_bytes`: that its files may take; 0: any number.
  explicit Staging(std::int64_t room_bytes) : room_bytes_(room_bytes) {}

  void Add(RunKey run, Upload upload);

  // What is to be put now, beside what is being put. `need_of`: of a run's state at a step, as it is now.
  std::vector<UploadFile> Begin(const std::function<Need(RunKey, Step)>& need_of, Seconds now);

  struct Done {
    RunKey run;
    Upload upload;
    bool is_over = true;  // else the store did not take it, and it is tried again
  };
  // What has come of the upload. A stored one has to be kept (Keep). None: it is unknown.
  std::optional<Done> Finish(std::int64_t upload, const Result<void>& stored, Seconds now);
  // Stored, and reported by that number.
  void Keep(std::int64_t report, Upload upload);
  // Files that nobody needs any more, now that reports up to that number are acknowledged.
  std::vector<std::string> Acknowledge(std::int64_t report);

  // Whether a state of the plan may be begun, besides those that are being written: of their plans, one each. Expects
  // it to be as large as the plan's largest so far. A state has always room if it is the only one.
  bool HasRoomFor(PlanId plan, const std::vector<PlanId>& being_written) const;

  // Nothing is on its way into the store.
  bool AllStored() const { return uploads_.empty(); }
  // Of the latest state that the store did not take and that is still here; empty: there is none.
  std::string WhyNotStored() const;

 private:
  struct OnItsWay {
    RunKey run;
    Upload upload;
    bool is_being_put = false;
    RetryPause pause = {};
    Seconds again_at{0};
    std::string refused = {};  // why, the last time
  };

  std::int64_t Expected(PlanId plan) const;

  const std::int64_t room_bytes_;
  std::int64_t used_bytes_ = 0;
  std::map<PlanId, std::int64_t> largest_;
  std::int64_t next_upload_ = 1;
  std::map<std::int64_t, OnItsWay> uploads_;
  std::map<std::int64_t, Upload> kept_;  // by report
  std::int64_t last_refused_ = 0;        // upload
};

}  // namespace espalier::node
