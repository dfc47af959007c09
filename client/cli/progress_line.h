// The live line of a running study, on standard error: rewritten in place on a terminal, one line every few seconds
// elsewhere. A thread of its own prints; Report may be called from any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <iosfwd>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/units.h"
#include "client/evaluation.h"
#include "client/study_specification.h"
#include "espalier/v1/study.pb.h"

namespace espalier {

class ProgressLine {
 public:
  ProgressLine(std::ostream& err, bool terminal, std::string metric, Goal goal);
  // Stops, and clears the line on a terminal.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // One more claim is settled.
  void Report(const Evaluation& evaluation);
  // How far the study is.
  void Report(const v1::StudyProgress& progress);
  // The server does not answer, until the next of the reports above. Said at once.
  void ReportLost();

 private:
  void Run();
  std::string Text() const;  // REQUIRES: mutex_ is held

  std::ostream& err_;
  const bool terminal_;
  const std::string metric_;
  const Goal goal_;
  const Seconds started_;

  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::int64_t settled_ = 0;
  std::optional<Evaluation> best_;
  std::optional<v1::StudyProgress> progress_;
  bool lost_ = false;
  std::thread thread_;
};

}  // namespace espalier
