#include "client/cli/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <map>
#include <ostream>

#include "base/clock.h"
#include "client/cli/output.h"
#include "client/cli/study_view.h"
#include "client/cli/terminal_text.h"

namespace espalier {
namespace {

constexpr Seconds kTerminalPeriod{0.25};
constexpr Seconds kLinePeriod{5};
constexpr ControlSequence kClearLine{"\r\x1b[K"};
constexpr const char* kLost =
    "espalier: the server does not answer, and is waited for; start it again with: espalier up";

std::size_t TerminalColumns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 100;
  return size.ws_col;
}

}  // namespace

ProgressLine::ProgressLine(std::ostream& err, bool terminal, std::string metric, Goal goal)
    : err_(err),
      terminal_(terminal),
      metric_(std::move(metric)),
      goal_(goal),
      started_(MonotonicNow()),
      thread_([this] { Run(); }) {}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  thread_.join();
  if (terminal_) err_ << kClearLine << std::flush;
}

void ProgressLine::Report(const Evaluation& evaluation) {
  const std::lock_guard lock(mutex_);
  ++settled_;
  lost_ = false;
  const auto value = evaluation.metrics.find(metric_);
  if (value == evaluation.metrics.end() || std::isnan(value->second)) return;
  const auto better = [&](double a, double b) { return goal_ == Goal::kMaximize ? a > b : a < b; };
  if (!best_.has_value() || better(value->second, best_->metrics.at(metric_))) best_ = evaluation;
}

void ProgressLine::Report(const v1::StudyProgress& progress) {
  const std::lock_guard lock(mutex_);
  progress_ = progress;
  lost_ = false;
}

void ProgressLine::ReportLost() {
  const std::lock_guard lock(mutex_);
  lost_ = true;
  if (!terminal_) err_ << kLost << std::endl;
}

void ProgressLine::Run() {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, terminal_ ? kTerminalPeriod : kLinePeriod, [&] { return stopping_; })) {
    if (lost_ && !terminal_) continue;  // was said
    std::string text = lost_ ? kLost : Text();
    if (terminal_) {
      text.resize(std::min(text.size(), TerminalColumns() - 1));
      err_ << kClearLine << text << std::flush;
    } else {
      err_ << text << std::endl;
    }
  }
}

std::string ProgressLine::Text() const {
  std::string text = FormatDuration((MonotonicNow() - started_).count());
  if (progress_.has_value()) {
    text += " | trials " + TrialStates(progress_->trials_by_state());
  } else {
    text += " | " + FormatCount(settled_) + " claims settled";
  }
  if (best_.has_value()) {
    text += " | best " + FormatNumber(best_->metrics.at(metric_)) + " (trial " + std::to_string(best_->trial.value) +
            ", step " + std::to_string(best_->step.value) + ")";
  }
  if (!progress_.has_value()) return text;
  text += " | steps " + FormatCount(progress_->trained_steps()) + " trained of " +
          FormatCount(progress_->unique_steps()) + " unique, " + FormatCount(progress_->claimed_steps()) + " claimed";
  if (progress_->seconds_left() >= 0) text += " | " + FormatDuration(progress_->seconds_left()) + " left";
  for (const std::string& warning : progress_->warnings()) text += " | warning: " + warning;
  return text;
}

}  // namespace espalier
