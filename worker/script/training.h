// One training by a user's program: from Init to the next. The program is started once for each stretch of steps, and
// goes on by itself to the stretch's end, or ends early where it has saved on its way; in between it is only listened
// to. Not thread-safe.
// Errors, by what went wrong: kInvalidArgument, the request; kNotFound and kUnavailable, a checkpoint file; any other,
// the program, with what it did. A program that a signal kills takes this process along, by the same signal: so that
// who watches it sees what has happened.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "worker/protocol/worker_message.h"
#include "worker/script/program.h"
#include "worker/script/program_line.h"
#include "worker/script/program_run.h"
#include "worker/script/state_file.h"

namespace espalier::script {

class Training {
 public:
  // What all trainings by a program have in common; outlives them.
  struct Program {
    ProgramPlace place;
    Declaration declaration;
    Offer offer;
    std::filesystem::path scratch;  // folder for files that nobody else sees
    // Of files there: none is given twice, since a training's state may be held longer than the training.
    mutable std::int64_t last_name = 0;
  };
  // Called whenever the program says anything.
  using Hear = std::function<void()>;

  // Nothing is started yet.
  static Result<Training> Begin(const Program& program, const worker::Init& init);

  Result<void> Setup(const worker::Values& values);
  Result<worker::Trained> Train(const worker::Train& train, const Hear& hear);
  // What the program has measured by itself at this step, else what it measures now.
  Result<worker::Evaluated> Evaluate(const Hear& hear);
  // The state as it stands, for as long as anybody holds it. Error: kInvalidArgument where it does not stand.
  Result<std::shared_ptr<const StateFile>> State(Step step) const;
  Result<void> Load(const std::filesystem::path& path, bool of_other_code);

  // Equal for the trainings that may take over each other's states.
  const std::string& origin() const { return origin_; }
  // Of the last evaluation or step that has failed since a signal killed the program; 0: it was not killed.
  int killed_by() const { return killed_by_; }

 private:
  // A run of the program that trains.
  struct Stretch {
    std::unique_ptr<ScratchFolder> folder;  // of what it writes
    std::unique_ptr<ProgramRun> run;
    Step to;
    std::optional<Step> saved_at = {};  // the last on its way
  };

  Training(const Program& program, const worker::Init& init);

  Result<std::unique_ptr<ProgramRun>> Start(Step to, const std::vector<worker::ValuesAtStep>& ahead,
                                            const std::filesystem::path& folder, bool saves);
  Result<void> BeginStretch(const worker::Train& train);
  Result<std::optional<ProgramLine>> NextLine(ProgramRun& run, const Hear& hear) const;
  Result<ProgramLine> NextStep(Step step, const Hear& hear);
  Result<bool> Passed(bool is_saved, Step until, const Hear& hear);
  Result<void> CheckGoing() const;
  Result<void> Finish(const Hear& hear);
  Result<Metrics> Measure(const Hear& hear);
  Result<void> Take(const std::filesystem::path& file);
  void NoteSave(Step step);
  tl::unexpected<Error> Ended(const ProgramRun& run, const std::string& otherwise);
  std::filesystem::path NewName() const;
  std::string Named(const std::string& what) const;

  const Program* program_;
  std::string origin_;
  StepMeaning meaning_;
  worker::Values at_init_;
  worker::Values in_force_;  // sequences
  Step step_;
  std::shared_ptr<const StateFile> state_;  // at step_, unless a stretch is under way; null: at step 0
  std::optional<Metrics> evaluation_;       // that the program gave at step_
  std::optional<Stretch> stretch_;
  bool is_over_ = false;  // it has diverged, and there is no state to go on from
  int killed_by_ = 0;
};

}  // namespace espalier::script
