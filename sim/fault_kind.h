// What can go wrong in a simulation.
#pragma once

#include <string_view>

namespace espalier::sim {

enum class FaultKind {
  kWorkerCrash,
  kWorkerKilled,  // by a SIGKILL from outside
  kWorkerHang,    // until the node manager notices, or its operator
  kEvaluationCrash,
  kSaveFails,
  kFileLost,
  kFileDamaged,
  kFetchLost,  // a file, as a server fetches it; then the server is gone for long, too
  kStoreAway,
  kStoreFull,  // for a while, whatever is removed
  kStreamCut,
  kLateMessages,
  kRepeatedMessages,
  kNodeRestart,
  kServerGone,  // for long: its node manager trains on, and is heard again later
  kMasterKilled,
  kMasterFrozen,
  kLoopStalls,  // one event takes long
  kDatabaseAway,
  kSecondVersion,          // one server offers other code, or evaluates otherwise, from now on
  kPreemption,             // of some runs: nothing is lost by it
  kWorkerUnusable,         // its device has failed: it fails whatever it is asked, and says so
  kEvaluationOutOfMemory,  // once
  kServerDrained,          // by its administrator, for a while
  kServersLostInTurn,      // those that have one stage, one after another, until it is held and an operator retries it
  kOrdersRefused,          // by a node manager, for a while
  kQuotaReached,           // by the users' team, of device time or stored bytes, for a while
};
inline constexpr int kFaultKindCount = 27;
std::string_view Name(FaultKind kind);

}  // namespace espalier::sim
