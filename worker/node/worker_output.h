// What one worker prints, told apart by runs and steps: reads its log beside the worker, which never waits for that.
// What comes faster than it may be sent on is left out, and so is what was not read before the log was begun afresh.
// Owned by the event loop.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/point.h"
#include "base/units.h"
#include "protocol/run_output.h"

namespace espalier::node {

class WorkerOutput {
 public:
  // Of the log as it is now, whatever becomes of its name. One that cannot be read is as good as empty.
  explicit WorkerOutput(const std::filesystem::path& log);
  ~WorkerOutput();
  WorkerOutput(WorkerOutput&& other) noexcept;
  WorkerOutput& operator=(WorkerOutput&&) = delete;

  // What is printed from here on is the run's, before its first step. Before the first run it is nobody's.
  void BeginRun(RunKey run, Seconds now);
  // And from here on on the way to the step. REQUIRES: run().
  void BeginStep(Step step);
  // What is printed from here on is nobody's.
  void EndRun();
  // The run that prints now; none: nobody's.
  std::optional<RunKey> run() const;
  // Nothing will be printed any more.
  void End();
  // The offset of the log from which on all was printed by the run that prints now; none: by nobody's.
  std::int64_t own_from() const { return own_from_; }

  // What may be sent on now. Of a run that is over, its last kOutputBytesMax at once; of another, at most once a
  // second, what its allowance says: 64 KiB at first, and 2 KiB for each second since. The newest goes first, and what
  // comes before it is left out. O(what it gives back).
  std::optional<RunOutput> Take(Seconds now);

  // Something was printed that was not given out yet, for a run.
  bool HasUnread();

  // It has ended, and all was given out.
  bool is_done() const { return has_ended_ && stretches_.empty(); }

 private:
  // From an offset of the log on, on the way to a step.
  struct Part {
    std::int64_t from = 0;
    Step step;
  };
  // Of one run.
  struct Stretch {
    RunKey run;
    std::deque<Part> parts;           // the first has `read`
    std::int64_t read = 0;            // up to this offset of the log
    std::int64_t position = 0;        // of that in all that the run has printed
    std::optional<std::int64_t> end;  // an offset; none: it prints now
    double allowance = 0;             // in bytes
    Seconds looked_at{0};             // when that was so
  };

  // How long the log is. Notices when it was begun afresh.
  std::int64_t Size();
  std::int64_t EndOf(const Stretch& stretch) const { return stretch.end.value_or(seen_); }
  bool IsOver(const Stretch& stretch) const { return has_ended_ || stretch.end.has_value(); }
  std::string Read(Stretch& stretch, std::int64_t bytes_max) const;
  static void Skip(Stretch& stretch, std::int64_t bytes);
  static std::vector<OutputPiece> CutIntoPieces(Stretch& stretch, const std::string& text);

  int fd_ = -1;
  std::deque<Stretch> stretches_;  // with something that was not given out; the last one prints now, or has
  std::int64_t own_from_ = 0;
  std::int64_t seen_ = 0;  // the log's length when it was last looked at
  bool has_ended_ = false;
};

}  // namespace espalier::node
