#include "worker/node/worker_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace espalier::node {
namespace {

constexpr Seconds kPeriod{1};
constexpr double kAllowanceMax = 64 << 10;
constexpr double kAllowancePerSecond = 2 << 10;
constexpr std::size_t kPartsMax = 4096;

// How many bytes at the end are the beginning of a letter whose rest has not come.
std::size_t BegunLetter(const std::string& text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;
    const std::size_t length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return length > back ? back : 0;
  }
  return 0;
}

// Steps together, so that there are not too many: what was printed up to the last one.
void Join(std::vector<OutputPiece>& pieces) {
  const std::size_t together = (pieces.size() + kOutputPiecesMax - 1) / kOutputPiecesMax;
  std::vector<OutputPiece> joined;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i % together == 0) {
      joined.push_back(std::move(pieces[i]));
    } else {
      joined.back().text += pieces[i].text;
      joined.back().step = pieces[i].step;
    }
  }
  pieces = std::move(joined);
}

}  // namespace

WorkerOutput::WorkerOutput(const std::filesystem::path& log) : fd_(open(log.c_str(), O_RDONLY | O_CLOEXEC)) {}

WorkerOutput::~WorkerOutput() {
  if (fd_ >= 0) close(fd_);
}

WorkerOutput::WorkerOutput(WorkerOutput&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      stretches_(std::move(other.stretches_)),
      own_from_(other.own_from_),
      seen_(other.seen_),
      has_ended_(other.has_ended_) {}

std::int64_t WorkerOutput::Size() {
  struct stat status {};
  if (fd_ < 0 || fstat(fd_, &status) != 0) return seen_;
  const bool is_afresh = status.st_size < seen_;
  if (is_afresh) own_from_ = 0;
  if (is_afresh && !stretches_.empty()) {  // what was not read is gone
    stretches_.erase(stretches_.begin(), std::prev(stretches_.end()));
    Stretch& last = stretches_.back();
    last.position += EndOf(last) - last.read;
    last.read = 0;
    last.parts = {{0, last.parts.back().step}};
    if (last.end.has_value()) last.end = 0;
  }
  return seen_ = status.st_size;
}

void WorkerOutput::BeginRun(RunKey run, Seconds now) {
  EndRun();
  const std::int64_t size = own_from_ = seen_;
  stretches_.push_back({.run = run,
                        .parts = {{size, Step{0}}},
                        .read = size,
                        .position = 0,
                        .end = {},
                        .allowance = kAllowanceMax,
                        .looked_at = now});
}

void WorkerOutput::EndRun() {
  const std::int64_t size = Size();
  if (!run().has_value()) return;
  stretches_.back().end = own_from_ = size;
}

std::optional<RunKey> WorkerOutput::run() const {
  if (stretches_.empty() || IsOver(stretches_.back())) return std::nullopt;
  return stretches_.back().run;
}

void WorkerOutput::BeginStep(Step step) {
  std::deque<Part>& parts = stretches_.back().parts;
  const std::int64_t size = Size();
  if (parts.back().from == size || parts.size() >= kPartsMax) {
    parts.back().step = step;
  } else {
    parts.push_back({size, step});
  }
}

void WorkerOutput::End() {
  Size();
  has_ended_ = true;
}

bool WorkerOutput::HasUnread() {
  if (!has_ended_) Size();
  return std::any_of(stretches_.begin(), stretches_.end(),
                     [&](const Stretch& stretch) { return EndOf(stretch) > stretch.read; });
}

std::optional<RunOutput> WorkerOutput::Take(Seconds now) {
  if (!has_ended_) Size();
  while (!stretches_.empty()) {
    Stretch& first = stretches_.front();
    const std::int64_t unread = EndOf(first) - first.read;
    if (IsOver(first) && unread <= 0) {
      stretches_.pop_front();
      continue;
    }
    std::int64_t allowed = kOutputBytesMax;
    if (!IsOver(first)) {
      if (unread <= 0 || now - first.looked_at < kPeriod) return std::nullopt;
      first.allowance =
          std::min(kAllowanceMax, first.allowance + (now - first.looked_at).count() * kAllowancePerSecond);
      first.looked_at = now;
      allowed = static_cast<std::int64_t>(first.allowance);
    }
    const std::string text = Read(first, std::min(allowed, unread));
    if (text.empty()) {
      if (IsOver(first)) Skip(first, unread);
      return std::nullopt;
    }
    first.allowance -= static_cast<double>(text.size());
    return RunOutput{.run = first.run, .incarnation = {}, .pieces = CutIntoPieces(first, text)};
  }
  return std::nullopt;
}

// The newest that is allowed; what it leaves out ends with a line.
std::string WorkerOutput::Read(Stretch& stretch, std::int64_t bytes_max) const {
  const std::int64_t left_out = EndOf(stretch) - stretch.read - bytes_max;
  Skip(stretch, left_out);
  std::string text(static_cast<std::size_t>(bytes_max), '\0');
  const ssize_t count = pread(fd_, text.data(), text.size(), stretch.read);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  if (left_out > 0) {
    const std::size_t line = text.find('\n') + 1;  // 0: it is all one line
    Skip(stretch, static_cast<std::int64_t>(line));
    text.erase(0, line);
  }
  if (!IsOver(stretch)) text.resize(text.size() - BegunLetter(text));
  return text;
}

void WorkerOutput::Skip(Stretch& stretch, std::int64_t bytes) {
  stretch.read += bytes;
  stretch.position += bytes;
  while (stretch.parts.size() > 1 && stretch.parts[1].from <= stretch.read) stretch.parts.pop_front();
}

std::vector<OutputPiece> WorkerOutput::CutIntoPieces(Stretch& stretch, const std::string& text) {
  std::vector<OutputPiece> pieces;
  for (std::size_t at = 0; at < text.size();) {
    const Step step = stretch.parts.front().step;
    std::size_t count = text.size() - at;
    if (stretch.parts.size() > 1)
      count = std::min(count, static_cast<std::size_t>(stretch.parts[1].from - stretch.read));
    pieces.push_back({step, stretch.position, CleanText(text.substr(at, count))});
    Skip(stretch, static_cast<std::int64_t>(count));
    at += count;
  }
  Join(pieces);
  return pieces;
}

}  // namespace espalier::node
