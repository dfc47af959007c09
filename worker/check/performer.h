// Carries out the actions of passes on workers. What is seen first of a step - its metrics, its state, its evaluation -
// is what all later passes are held against. One thread.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/metrics.h"
#include "base/result.h"
#include "worker/check/course.h"
#include "worker/check/driven_worker.h"
#include "worker/check/finding.h"
#include "worker/check/pass.h"

namespace espalier::trainer_check {

struct Counts {
  std::int64_t steps = 0;
  std::int64_t states = 0;
  std::int64_t evaluations = 0;
};

class Performer {
 public:
  // `workers` outlives this; the files of states remain in `folder`.
  Performer(Workers& workers, std::filesystem::path folder, std::string trainer, std::string data)
      : workers_(workers), folder_(std::move(folder)), trainer_(std::move(trainer)), data_(std::move(data)) {}

  // Trains by this course from now on: what was seen is forgotten.
  void Follow(Course course);

  // Up to the first difference or failure, which is given back; nothing: all was as before. `more_processes`: further
  // passes will need one. Error: kAborted when told to stop, kInternal when a file cannot be read.
  Result<std::optional<Finding>> Perform(const Pass& pass, bool more_processes);

  const Counts& counts() const { return counts_; }

 private:
  struct SavedState {
    std::filesystem::path path;
    std::string sha256;
  };
  using Seen = Result<std::optional<Finding>>;

  Seen Do(const Action& action, bool more_processes);
  Seen Begin();
  Seen Load(Step step);
  Seen Proceed(Step at);
  Seen Train(Step step);
  Seen Evaluate(Step step);
  Seen Save(Step step);
  Seen Setup(Step at, worker::Values values);
  // Nothing where the answer is the kind that was asked for, which goes into `answer`.
  template <class Kind>
  Seen Ask(Step at, worker::RequestKind request, Kind& answer);
  Seen Compare(Observed observed, Step step, const Metrics& metrics, std::map<Step, Metrics>& before);

  Workers& workers_;
  const std::filesystem::path folder_;
  const std::string trainer_;
  const std::string data_;
  Course course_;
  Step stands_at_;  // of a step that is trained: where the pass does something else next
  std::map<Step, Metrics> trained_;
  std::map<Step, Metrics> evaluated_;
  std::map<Step, SavedState> saved_;
  Counts counts_;
};

}  // namespace espalier::trainer_check
