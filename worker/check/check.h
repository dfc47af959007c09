// Whether a trainer keeps the first law: however its training is cut, metrics and states are the same to the bit.
// Trains a few steps straight, and again with everything in between that a service may do, through the trainer protocol
// and with nothing else: no master, no node manager. One thread.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/checked_trainer.h"
#include "protocol/offer.h"
#include "worker/check/course.h"
#include "worker/check/driven_worker.h"
#include "worker/check/finding.h"

namespace espalier::trainer_check {

struct Subject {
  Offer offer;  // one of the workers' description
  Sequences given;
  StepMeaning step;
  Step end;
};

// A change of a value that the trainer would not take.
struct NotTried {
  Change change;
  std::string reason;  // the trainer's
};

struct PassResult {
  std::string name;
  bool is_same = false;
};

struct Report {
  Course course;
  std::vector<Change> changes;
  std::vector<NotTried> not_tried;
  std::vector<PassResult> passes;     // until the first difference
  std::optional<Finding> finding;     // none: passed
  std::string cause;                  // of the finding
  std::optional<std::string> reload;  // why Load without Init does not do; unset: it does, or nobody knows
  bool declares_reload = false;       // the worker says that it does: if not, that is the finding
  std::vector<std::string> said;      // by the workers
  std::int64_t steps = 0;             // trained
  std::int64_t states = 0;            // saved
  std::int64_t evaluations = 0;
  int processes = 0;
  Seconds time{0};
};

// `folder`: for states and logs, which remain there; at most as many states as there are steps, and one.
// `say` is given each pass's name before it begins.
// Errors: of DrivenWorker and Workers::Next, where no pass could begin; kAborted when told to stop. That the trainer
// fails is a finding.
Result<Report> Check(Workers& workers, const std::filesystem::path& folder, const Subject& subject,
                     const std::function<void(const std::string&)>& say);

// Of a report with a finding: what differs, what the workers said, the usual cause; several lines.
std::string Explained(const Report& report);

// What is known of the trainer now. That its training fails also where nothing is done to it is given up, since it says
// so itself when it is trained; that the process of a worker died, or had no memory, says nothing of it: none.
std::optional<CheckFinding> Conclude(const Report& report);

}  // namespace espalier::trainer_check
