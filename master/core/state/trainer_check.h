// Checks of trainers in users' own code (docs/trainer_check.md): which are wanted, where they are done, and what came
// of them.
#pragma once

#include <string>

#include "base/digest.h"
#include "base/units.h"
#include "master/core/state/run.h"
#include "master/core/state/study.h"
#include "protocol/checked_trainer.h"

namespace espalier::master {

struct MasterState;

// What is checked once: code, schema and data, on a device kind.
struct CheckKey {
  Digest128 trainer;  // TrainerDigest
  std::string device_kind;
  friend auto operator<=>(const CheckKey&, const CheckKey&) = default;
};
CheckKey CheckKeyOf(const Study& study);

// Kept for good.
struct StoredFinding {
  CheckFinding finding;
  Time at{};
  friend bool operator==(const StoredFinding&, const StoredFinding&) = default;
};

// A slot that is given no run meanwhile.
struct CheckPlace {
  SlotId slot;
  Reservation reservation;
  std::string incarnation;  // of its server
  friend bool operator==(const CheckPlace&, const CheckPlace&) = default;
};

// Whether the study's trainer is of a user's own code, and its user lets it be checked.
bool IsChecked(const Study& study);

// What came of checking the study's trainer; null: nothing yet, or it is not checked. O(log findings).
const CheckFinding* FindingOf(const MasterState& state, const Study& study);

// The same, where it failed: such a study trains nothing.
const CheckFinding* FailedCheckOf(const MasterState& state, const Study& study);

// "its trainer has failed its check, ...", with what to do.
std::string WhyStopped(const CheckFinding& failed);

// Why a failed claim failed, whatever the reason is; empty: it is not known.
std::string WhyFailed(const MasterState& state, const SearchPlan& plan, const Claim& claim);

// Whether all running studies that train in the plan wait for the check of its trainer, as they say
// (CheckWhen::kFirst). O(log checks that are wanted); where some study waits for this one, O(running studies).
bool AwaitsCheck(const MasterState& state, const SearchPlan& plan);

}  // namespace espalier::master
