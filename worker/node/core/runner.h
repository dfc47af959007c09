// One run: which request its worker gets next, and what is reported of it.
// The position is a step that was reached; there, in this order, the run evaluates, saves, and begins the next step. A
// step is begun by sending Setup and Train together, so that until then a new target at this very step is in time.
// Invariant: at most one request besides saves is waited for. Each target of the generation taken over is met, on its
// way, or reported lost exactly once for that generation. Not thread-safe; owned by the core.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "worker/node/core/desired_run.h"
#include "worker/node/core/report.h"
#include "worker/node/core/worker_message.h"

namespace espalier::node {

struct Upload {
  PointReached point;  // what is reported once the file is stored
  std::string staged;
};

// What a runner wants done, each list in order.
struct Wanted {
  std::vector<RequestKind> requests;  // to the worker of the run's slot
  std::vector<ReportKind> reports;
  std::vector<Upload> uploads;
  std::vector<std::string> abandoned_files;  // staged, whole or not
  bool read_step_log = false;
};

class Runner {
 public:
  // REQUIRES: Defect(desired) is empty. Waits for its slot at first.
  explicit Runner(DesiredRun desired);

  const DesiredRun& desired() const { return desired_; }
  RunStatus Status() const;

  // The slot's worker is free for it: begins. `start_path` is where the start's checkpoint lies, if there is one.
  // REQUIRES: waiting().
  void Begin(const std::string& start_path, const std::string& staging, const std::string& step_log, Seconds now,
             Wanted& wanted);

  // A newer generation; an older one or the same changes nothing.
  void TakeOver(const Wishes& wishes, Seconds now, Wanted& wanted);
  // Nobody needs the run, not even its state.
  void StopAtOnce(Seconds now, Wanted& wanted);
  // As a preemption that the master asked for.
  void Preempt(Seconds now, Wanted& wanted);

  void OnReply(const RequestKind& request, const ReplyKind& reply, Seconds now, Wanted& wanted);
  // `log` is the end of what the worker printed.
  void OnWorkerDied(const std::string& log, Seconds now, Wanted& wanted);
  // The start's checkpoint cannot be had. REQUIRES: waiting().
  void OnStartMissing(const std::string& why, Wanted& wanted);
  void OnUploaded(Step step);
  void OnUploadFailed(Step step, const std::string& why, Wanted& wanted);
  // After Wanted::read_step_log: nothing more will be trained, and what was is reported. Reports the end.
  void Close(Wanted& wanted);

  // The worker has to be killed: stopping takes too long, or it hangs. Then OnWorkerDied follows. While it is still
  // writing a checkpoint (`worker_saves`), it is given longer to stop.
  bool MustKill(Seconds now, bool worker_saves);

  bool waiting() const { return activity_ == Activity::kWaiting; }
  bool holds_slot() const { return activity_ != Activity::kWaiting && activity_ != Activity::kOver; }
  bool training() const { return activity_ == Activity::kTraining; }
  bool over() const { return activity_ == Activity::kOver; }
  bool closed() const { return closed_; }
  bool saving() const;

 private:
  enum class Activity { kWaiting, kStarting, kEvaluating, kTraining, kDying, kOver };
  enum class SaveState { kNone, kWriting, kUploading, kStored, kFailed };

  // What has become of a step at which something was evaluated or saved.
  struct Point {
    bool evaluated = false;
    bool metrics_reported = false;
    std::map<std::string, double> metrics;
    Seconds evaluate_time{0};
    SaveState save = SaveState::kNone;
    std::string staged;
    std::string why_lost;
    std::int64_t lost_in_generation = 0;
  };

  void Advance(Seconds now, Wanted& wanted);
  void BeginStep(Seconds now, Wanted& wanted);
  void SaveHere(Point& here, Seconds now, Wanted& wanted);
  void OnTrained(Step step, const Trained& trained, Seconds now, Wanted& wanted);
  void OnEvaluated(const Evaluated& evaluated, Seconds now, Wanted& wanted);
  void OnSaved(const Save& save, const Saved& saved, Wanted& wanted);
  void OnFailure(const RequestKind& request, const Failure& failure, Seconds now, Wanted& wanted);
  void Fail(FaultKind kind, Step step, std::string message, Seconds now, Wanted& wanted);
  void Finish(Seconds now, Wanted& wanted);
  void LoseSave(Step step, Point& point, std::string why, Wanted& wanted);
  void ReportUnmet(const std::string& why, bool ended, Wanted& wanted);
  void ReportMetrics(Step step, Point& point, Wanted& wanted);
  PointReached PointAt(Step step, const Point& point) const;

  bool WantsEvaluation() const;
  bool WantsSave(Seconds now) const;
  bool Met(const Target& target) const;
  bool AnythingAhead() const;
  Step End() const;

  DesiredRun desired_;
  Activity activity_ = Activity::kWaiting;
  Step reached_;
  Step begun_;  // reached_, or the step that is being trained
  Values in_force_;
  std::string staging_;
  std::map<Step, Point> points_;
  std::optional<Seconds> stop_before_;  // stopping at once: the worker is killed after this moment
  bool preempted_ = false;
  bool closed_ = false;
  std::optional<RunFailed> failure_;
  std::optional<std::string> killed_because_;  // of a hang
  Seconds slot_since_{0};
  Seconds asked_at_{0};  // when the request that is waited for was sent
  Seconds saved_at_{0};
  Seconds slot_time_{0};
  Seconds load_time_{0};
};

}  // namespace espalier::node
