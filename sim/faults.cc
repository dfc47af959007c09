#include "sim/faults.h"

#include <algorithm>

#include "master/core/state/stages.h"

namespace espalier::sim {
namespace {

constexpr Seconds kOperatorNotices{900};
constexpr std::size_t kLostInTurn = 3;
constexpr Seconds kPatience{600};

}  // namespace

std::string_view Name(FaultKind kind) {
  constexpr std::string_view kNames[kFaultKindCount] = {"worker crash",
                                                        "worker killed",
                                                        "worker hang",
                                                        "evaluation crash",
                                                        "save fails",
                                                        "file lost",
                                                        "file damaged",
                                                        "fetch lost",
                                                        "store away",
                                                        "store full",
                                                        "stream cut",
                                                        "late messages",
                                                        "repeated messages",
                                                        "node restart",
                                                        "server gone",
                                                        "master killed",
                                                        "master frozen",
                                                        "loop stalls",
                                                        "database away",
                                                        "second version",
                                                        "preemption",
                                                        "worker unusable",
                                                        "evaluation out of memory",
                                                        "server drained",
                                                        "servers lost in turn",
                                                        "orders refused",
                                                        "quota reached"};
  return kNames[static_cast<int>(kind)];
}

void Faults::Plan(int count, Seconds from, Seconds until) {
  std::vector<FaultKind> kinds;
  for (int i = 0; i < kFaultKindCount; ++i) kinds.push_back(static_cast<FaultKind>(i));
  for (std::size_t i = 0; i + 1 < kinds.size(); ++i) {
    const auto other = static_cast<std::size_t>(world_.chance.Whole(static_cast<std::int64_t>(i), kFaultKindCount - 1));
    std::swap(kinds[i], kinds[other]);
  }
  for (int i = 0; i < count; ++i) {
    const FaultKind kind = i < kFaultKindCount ? kinds[static_cast<std::size_t>(i)] : world_.chance.OneOf(kinds);
    world_.clock.After(world_.chance.Between(from.count(), until.count()), [this, kind] { Strike(kind); });
  }
}

void Faults::Strike(FaultKind kind) {
  world_.Tell([&] { return "FAULT: " + std::string(Name(kind)); });
  switch (kind) {
    case FaultKind::kWorkerCrash:
    case FaultKind::kWorkerKilled:
    case FaultKind::kWorkerHang:
    case FaultKind::kWorkerUnusable:
      if (!StrikeWorker(kind)) return;
      break;
    case FaultKind::kFileLost:
    case FaultKind::kFileDamaged:
      if (!StrikeFile(kind)) return;
      break;
    case FaultKind::kStoreAway:
      parts_.files.BeAwayFor(world_.chance.Magnitude(5, 120));
      break;
    case FaultKind::kStoreFull:
      parts_.files.BeFullFor(world_.chance.Magnitude(5, 120));
      break;
    case FaultKind::kLateMessages:
      parts_.network.DelayFor(Seconds(30), world_.chance.Between(1, 5));
      break;
    case FaultKind::kRepeatedMessages:
      parts_.network.RepeatFor(Seconds(60));
      break;
    case FaultKind::kMasterKilled:
    case FaultKind::kMasterFrozen:
    case FaultKind::kLoopStalls:
    case FaultKind::kDatabaseAway:
      StrikeMaster(kind);
      break;
    case FaultKind::kPreemption:
      parts_.policy.PreemptSoon(world_.chance.Whole(1, 3));
      break;
    case FaultKind::kServersLostInTurn:
      LoseServersOf({.first = parts_.master.stored().next.run, .until = world_.clock.now() + kPatience});
      break;
    case FaultKind::kQuotaReached:
      parts_.users.BeLimitedFor(world_.chance.Magnitude(5, 300));
      break;
    case FaultKind::kEvaluationCrash:
    case FaultKind::kEvaluationOutOfMemory:
    case FaultKind::kServerDrained:
    case FaultKind::kOrdersRefused:
    case FaultKind::kSaveFails:
    case FaultKind::kFetchLost:
    case FaultKind::kStreamCut:
    case FaultKind::kNodeRestart:
    case FaultKind::kServerGone:
    case FaultKind::kSecondVersion:
      StrikeNode(kind);
      break;
  }
  ++count_;
  kinds_.insert(kind);
}

// Of one that is at work, if there is one.
bool Faults::StrikeWorker(FaultKind kind) {
  const std::int64_t first = world_.chance.Whole(0, std::ssize(parts_.nodes) - 1);
  for (std::int64_t i = 0; i < std::ssize(parts_.nodes); ++i) {
    NodeProcess& node = *parts_.nodes[static_cast<std::size_t>((first + i) % std::ssize(parts_.nodes))];
    for (int slot = 0; node.runs() && slot < node.slot_count(); ++slot) {
      const bool struck = kind == FaultKind::kWorkerHang ? node.HangWorker(slot, kOperatorNotices)
                          : kind == FaultKind::kWorkerUnusable
                              ? node.SpoilWorker(slot)
                              : node.CrashWorker(slot, kind == FaultKind::kWorkerKilled);
      if (struck) return true;
    }
  }
  return false;
}

bool Faults::StrikeFile(FaultKind kind) {
  constexpr std::int64_t kAny = 1'000'000;
  const std::string name = parts_.files.NameAt(world_.chance.Whole(0, kAny));
  if (name.empty()) return false;
  world_.Tell([&] { return "  file " + name; });
  if (kind == FaultKind::kFileLost) {
    parts_.files.Lose(name);
  } else {
    parts_.files.Damage(name);
  }
  return true;
}

void Faults::Restart(NodeProcess& node, Seconds after) {
  if (!node.runs()) return;
  node.Kill();
  world_.clock.After(after, [&node] {
    if (!node.runs()) node.Start();
  });
}

// Servers that are lost stay away for so long that others are given the stage.
void Faults::LoseServersOf(StageInTurn stage) {
  constexpr Seconds kLook{0.5};
  constexpr Seconds kAway{60};
  if (stage.lost.size() == kLostInTurn || world_.clock.now() > stage.until) return;
  const master::MasterState& stored = parts_.master.stored();
  for (const RunId id : stored.active_runs) {
    const master::Run& run = stored.runs.at(id);
    if (id < stage.first || !run.training() || run.path.empty() || stage.lost.contains(run.slot.server)) continue;
    if (stage.beginning && master::StageOf(run) != *stage.beginning) continue;
    const auto node = std::ranges::find(parts_.nodes, run.slot.server, &NodeProcess::name);
    if (!(*node)->runs()) continue;
    stage.beginning = master::StageOf(run);
    stage.lost.insert(run.slot.server);
    world_.Tell([&] { return "  lost in turn: " + run.slot.server + " under run " + std::to_string(id.value); });
    Restart(**node, kAway);
    break;
  }
  world_.clock.After(kLook, [this, stage] { LoseServersOf(stage); });
}

// What takes a server away for long leaves the first one alone, so that something is trained meanwhile.
void Faults::StrikeNode(FaultKind kind) {
  NodeProcess& any = *world_.chance.OneOf(parts_.nodes);
  NodeProcess& other = *parts_.nodes[static_cast<std::size_t>(world_.chance.Whole(1, std::ssize(parts_.nodes) - 1))];
  if (kind == FaultKind::kEvaluationCrash) {
    any.FailNextEvaluation(NodeProcess::EvaluationFault::kCrash);
  } else if (kind == FaultKind::kEvaluationOutOfMemory) {
    any.FailNextEvaluation(NodeProcess::EvaluationFault::kOutOfMemory);
  } else if (kind == FaultKind::kServerDrained) {
    parts_.users.Drain(any.name(), world_.chance.Magnitude(10, 300));
  } else if (kind == FaultKind::kOrdersRefused) {
    any.RefuseOrdersFor(world_.chance.Magnitude(5, 600));
  } else if (kind == FaultKind::kSaveFails) {
    any.FailNextSave();
  } else if (kind == FaultKind::kFetchLost) {
    other.OnNextFetch([this, &other](const std::string& file) {
      parts_.files.Lose(file);
      parts_.network.Part(other.server(), world_.chance.Magnitude(30, 300));
    });
  } else if (kind == FaultKind::kStreamCut) {
    parts_.network.Cut(any.server());
  } else if (kind == FaultKind::kNodeRestart) {
    Restart(other, world_.chance.Magnitude(0.5, 60));
  } else if (kind == FaultKind::kServerGone) {
    parts_.network.Part(other.server(), world_.chance.Magnitude(5, 300));
  } else if (!has_second_version_) {
    has_second_version_ = true;
    NodeProcess& last = *parts_.nodes.back();
    last.Install({world_.chance.OneIn(2) ? OfferOf(2, 1) : OfferOf(1, 2)});
    if (world_.chance.OneIn(2)) return Restart(last, Seconds(2));
    // Its workers are replaced as they die, while orders for the first version are on their way.
    for (int slot = 0; slot < last.slot_count(); ++slot) last.CrashWorker(slot, true);
  }
}

void Faults::StrikeMaster(FaultKind kind) {
  MasterProcess& master = parts_.master;
  if (!master.runs()) return;
  if (kind == FaultKind::kMasterFrozen) return master.FreezeFor(world_.chance.Magnitude(1, 60));
  if (kind == FaultKind::kLoopStalls) return master.StallFor(world_.chance.Magnitude(1, 30));
  if (kind == FaultKind::kDatabaseAway) return master.DatabaseAwayFor(world_.chance.Magnitude(1, 60));
  master.Kill();
  parts_.network.EndAll();
  world_.clock.After(world_.chance.Magnitude(0.5, 120), [&master] {
    if (!master.runs()) master.Start();
  });
}

}  // namespace espalier::sim
