// Checks of trainers that the master wants done here, each by a process of its own, on a slot where nothing trains.
//
//   Waiting ──> Running ──> Checked, until it is not wanted any more
//      ^          │ died: again after a pause, three times in all
//      └──────────┘
//
// What is not wanted any more, or takes too long, is killed; its slot is free once the process has ended.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/checked_trainer.h"
#include "protocol/order.h"
#include "worker/node/core/action.h"
#include "worker/node/core/retry_pause.h"

namespace espalier::node {

class Checks {
 public:
  // All that is wanted now, and nothing else. One that is on its way goes on as it began.
  void Want(const std::vector<WantedCheck>& wanted, Actions& actions);

  // That waits to be begun on the slot now; null if none does.
  const WantedCheck* Next(int slot, Seconds now) const;
  // `process`: a number never used again. REQUIRES: Next() is that check.
  void Begin(const WantedCheck& wanted, std::int64_t process, const std::string& runtime, Seconds now,
             Actions& actions);
  // A process of some check lives there.
  bool IsOn(int slot) const;

  // The process is gone. `finding`: what it has said; none: it died, with these words.
  void OnEnded(std::int64_t process, const std::optional<CheckFinding>& finding, const std::string& last_words,
               Seconds now);
  // Those that take too long are given up.
  void OnTick(Seconds now, Actions& actions);
  // None is begun any more.
  void Stop(Actions& actions) { Want({}, actions); }

  // What has come of those that are wanted.
  std::vector<CheckedTrainer> Checked() const;

 private:
  struct Waiting {
    Seconds again_at{0};
  };
  struct Running {
    std::int64_t process = 0;
    Seconds begun_at{0};
  };
  struct Check {
    WantedCheck wanted;
    std::variant<Waiting, Running, CheckFinding> state;
    int deaths = 0;
    RetryPause pause = {};
  };

  void Kill(const Check& check, Actions& actions);

  std::map<Digest128, Check> checks_;   // by TrainerDigest
  std::map<std::int64_t, int> killed_;  // processes that were told to end, by the slot they are on
};

}  // namespace espalier::node
