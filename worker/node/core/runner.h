// One run: which request its worker gets next, and what is reported of it.
// The position is a step that was reached; there, in this order, the run evaluates, saves, and begins the next step. A
// step is begun by sending Setup and Train together, so that until then a new promise at this very step is in time.
// Metrics are reported when they are measured, states when they are stored, a promise that cannot be kept any more when
// that is known, each once. RunEnded names the saves under way; it says that all else is lost. States go on into the
// store after the end. Invariant: besides saves, only Init with Setup and Load, or Setup with Train, or Evaluate is
// ever waited for; the worker answers in order. A worker that trains stretches is told where the next of these is to
// be done, and may pass steps at which it does not stand: there nothing is done, and what was promised there is lost.
// A trainer may end its training by refusing a step: what lies beyond is answered by the metrics of the last one, which
// the run measures, and its state is saved; where the worker does not stand there as if nothing had been asked, the run
// begins again and stops there.
// Not thread-safe; owned by the core.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/report.h"
#include "worker/node/core/gpu_use.h"
#include "worker/node/core/run_path.h"
#include "worker/node/core/run_saves.h"
#include "worker/node/core/run_state.h"
#include "worker/node/core/series_batches.h"
#include "worker/node/core/staging.h"
#include "worker/node/core/worker_words.h"

namespace espalier::node {

// What a runner wants done, each list in order.
struct RunnerActions {
  std::vector<RequestKind> requests;  // to the worker of the run's slot
  std::vector<ReportKind> reports;
  std::vector<Upload> uploads;
  std::vector<std::string> abandoned_files;  // staged, whole or not
  bool fetch_start = false;                  // the start's file has to be checked again
  bool kill_worker = false;                  // OnWorkerDied follows
  bool retire_worker = false;                // the same, once it has written what it is writing, or takes too long
  bool read_step_log = false;                // Close follows
};

// Where a run is trained.
struct Workplace {
  std::string start_path;  // where the start's checkpoint lies, if it has to be loaded
  std::string staging;     // folder
  std::string step_log;
  std::optional<Standing> standing;  // what the worker was left with, if it can go on with it
  Seconds start_time{0};             // that the worker took to start
  bool trains_stretches = false;     // the worker can train many steps at one go
};

class Runner {
 public:
  // Waits for its slot at first, and knows no terms. REQUIRES: CheckOrder has found nothing.
  explicit Runner(Order order);

  const Order& order() const { return order_; }
  const RunPath& path() const { return path_; }
  RunStatus Status() const;

  bool waiting() const { return std::holds_alternative<Waiting>(state_); }
  bool on_slot() const { return std::holds_alternative<OnSlot>(state_); }
  // Over, but for Close.
  bool closing() const { return std::holds_alternative<Over>(state_); }
  bool training_ended() const { return closing() || ended(); }
  // The file that it starts from has still to be loaded, or is being.
  bool needs_start() const { return waiting() || Is<Starting>(); }
  // It holds its slot and does nothing: it owes a state for which staging has no room.
  bool awaits_room() const { return Is<AwaitingRoom>(); }
  // What waits for its state at the step, as far as the newest terms say.
  Need NeedOf(Step step) const;

  // The slot's worker is free for it: begins. REQUIRES: waiting().
  void Begin(const Workplace& place, Seconds now, RunnerActions& actions);

  // What it leaves in its worker, whose reloading is not known here; nothing while it is on its slot, or if that is not
  // whole.
  std::optional<Standing> Left() const;

  // A newer generation, or the first; an older one or the same changes nothing.
  void TakeOver(const OrderTerms& terms, Seconds now, RunnerActions& actions);
  // Nobody needs the run, not even its state.
  void StopAtOnce(Seconds now, RunnerActions& actions);
  // As a preemption that the master asked for.
  void Preempt(Seconds now, RunnerActions& actions);

  // Whether staging has room for another state of its plan. REQUIRES: said before each reply and tick.
  void SetRoom(bool has_room) { has_room_ = has_room; }

  // The worker is at the request, and gets on.
  void OnHeartbeat(const RequestKind& request, Seconds now);
  // What its GPU was seen to do while no other run trained there. `has_all`: all of the GPU is this run's, so that no
  // other worker has memory of it.
  void OnGpuSeen(const GpuUse& use, bool has_all);
  void OnReply(const RequestKind& request, const ReplyKind& reply, Seconds now, RunnerActions& actions);
  void OnWorkerDied(const WorkerDeath& death, Seconds now, RunnerActions& actions);
  // The start's file is missing or damaged. REQUIRES: waiting().
  void OnStartUnusable(const std::string& why, Seconds now, RunnerActions& actions);
  // Nobody here can train it, or go on with what was trained: the master learns why, and goes elsewhere. REQUIRES:
  // waiting().
  void Refuse(const std::string& why, Seconds now, RunnerActions& actions);
  void OnStored(Step step) { saves_.OnStored(step); }
  // For good.
  void OnUploadRefused(Step step, const std::string& why, RunnerActions& actions);
  // What the worker has written is not what it said: it counts as crashed.
  void OnWrongFile(Step step, const std::string& why, Seconds now, RunnerActions& actions);
  // Gives up what has taken longer than the order's limits since the worker was last heard, and has a worker killed
  // that does not stop in time: stopping may take as long as starting took, and a second at least. While the worker is
  // still writing a state, of whatever run (`worker_saves`), it is given longer.
  void OnTick(Seconds now, bool worker_saves, RunnerActions& actions);
  // After RunnerActions::read_step_log: nothing more will be trained, and what was is reported. Reports the end.
  void Close(RunnerActions& actions);

 private:
  bool ended() const { return std::holds_alternative<Ended>(state_); }
  template <class Activity>
  bool Is() const {
    const auto* slot = std::get_if<OnSlot>(&state_);
    return slot != nullptr && std::holds_alternative<Activity>(slot->activity);
  }

  void Advance(Seconds now, RunnerActions& actions);
  void GoOn(Seconds now, RunnerActions& actions);
  void BeginStep(Seconds now, RunnerActions& actions);
  Step NextStop(Seconds now) const;
  void SaveHere(Seconds now, RunnerActions& actions);
  void BeginAgain(Seconds now, RunnerActions& actions);
  void OnPrepared(const RequestKind& request, Seconds took, Seconds now, RunnerActions& actions);
  StageUse& UseAt(Step step);
  void TakeTrained(Step step, const Trained& trained, Seconds now);
  void OnTrained(Step step, const Trained& trained, Seconds now, RunnerActions& actions);
  void OnEvaluated(const Evaluated& evaluated, Seconds now, RunnerActions& actions);
  void OnReplyWhileStopping(const RequestKind& request, const ReplyKind& reply, Seconds now, RunnerActions& actions);
  void TakeIfTrained(const RequestKind& request, const ReplyKind& reply, Seconds now);
  void OnSaveReply(const Save& save, const ReplyKind& reply, Seconds now, RunnerActions& actions);
  void FailSave(const RunFailed& fault, Seconds now, RunnerActions& actions);
  void OnFailure(const RequestKind& request, const Failure& failure, Seconds now, RunnerActions& actions);
  void OnEvaluationFailed(const Failure& failure, Seconds now, RunnerActions& actions);
  void OnLoadFailed(const std::string& why, Seconds now, RunnerActions& actions);
  void OnFinished(const Failure& failure, Seconds now, RunnerActions& actions);
  void WaitAgain(bool load_failed, Seconds now, RunnerActions& actions);
  void Finish(std::optional<ReportKind> fault, Seconds now, RunnerActions& actions);
  void LeaveSlot(Seconds now);
  void ReportMetrics(const Evaluated& evaluated, RunnerActions& actions);
  void LoseSave(Step step, const std::string& why, RunnerActions& actions);
  void ReportLost(RunnerActions& actions);

  // Of what is being done now.
  ReportKind FaultNow(RunFailed::Kind kind, std::string message) const;
  std::optional<std::string> WhyLost(const OrderedPromise& promise) const;
  bool IsAhead(const OrderedPromise& promise) const;
  bool AnythingAhead() const;
  Step End() const;
  bool Owes(Owed owed, Step step) const;
  bool IsBarred(Step step) const;
  bool IsAtLastStep() const { return finished_.has_value() && reached_ + 1 == finished_->point.step; }
  std::optional<ReportKind> HowItFinished() const;
  std::optional<Seconds> LimitOf(Work work) const;
  bool WantsEvaluation() const;
  bool WantsSave(Seconds now) const;
  bool SaveIsDue(Seconds now) const;

  Order order_;
  RunPath path_;
  RunState state_;
  Step reached_;
  Step begun_;  // reached_, or the step that is being trained
  bool preempted_ = false;
  bool trains_stretches_ = false;
  Step stretch_end_;      // where the worker stands at the latest, by the last Train that was sent where it stood
  bool goes_on_ = false;  // it does not stand at reached_
  bool set_up_for_step_ = false;       // values were set for the step that is being trained
  std::optional<RunFailed> finished_;  // the trainer has ended its training before that point
  bool has_room_ = true;
  Values in_force_;
  bool is_whole_ = false;  // the training in the worker is this run's, and no request of it has failed or is unanswered
  std::string staging_;
  Seconds stop_patience_{0};
  RunSaves saves_;
  Seconds saved_at_{0};  // or began
  SeriesBatches series_;
  std::set<Step> measured_;
  std::map<Step, RunFailed::Kind> failed_evaluations_;
  std::set<PromiseId> lost_;  // and reported so
  RunEnded end_;              // what is known of it so far
};

}  // namespace espalier::node
