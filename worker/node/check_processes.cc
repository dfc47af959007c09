#include "worker/node/check_processes.h"

#include <algorithm>
#include <system_error>

#include "base/log.h"
#include "worker/protocol/encoding.h"

namespace espalier::node {
namespace {

namespace fs = std::filesystem;

// Of trainers in Python, which then say what changes and is not tracked.
std::vector<std::string> Watched(std::vector<std::string> command) {
  if (std::ranges::find(command, "espalier.worker") != command.end()) command.push_back("--watch");
  return command;
}

// None: it is no answer to what it was asked.
std::optional<CheckFinding> FindingIn(const std::string& message) {
  const Result<worker::WorkerReply> reply = worker::DecodeReply(message);
  if (!reply.has_value()) return std::nullopt;
  if (std::holds_alternative<worker::Done>(reply->kind)) return CheckFinding{CheckOutcome::kPassed};
  const auto* failure = std::get_if<worker::Failure>(&reply->kind);
  if (failure == nullptr) return std::nullopt;
  const bool is_failed = failure->kind == worker::FailureKind::kTrainer;
  return CheckFinding{is_failed ? CheckOutcome::kFailed : CheckOutcome::kGivenUp, failure->message};
}

void RemoveAll(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

}  // namespace

CheckProcesses::CheckProcesses(std::string program, fs::path folder)
    : program_(std::move(program)), folder_(std::move(folder)) {
  RemoveAll(folder_);
}

fs::path CheckProcesses::FolderOf(std::int64_t process) const { return folder_ / std::to_string(process); }

void CheckProcesses::Start(const StartCheck& start, const std::vector<std::string>& command, const std::string& mark,
                           const worker::WorkerPlace& place) {
  Process& started = processes_[start.process];
  const fs::path folder = FolderOf(start.process);
  std::error_code error;
  fs::create_directories(folder, error);
  std::vector<std::string> words{program_, folder, ToHex(start.offer)};
  for (std::string& word : Watched(command)) words.push_back(std::move(word));
  auto process = worker::WorkerProcess::Start(words, folder / "check.log", mark, place);
  if (!process.has_value()) {
    started.last_words = process.error().message;
    return;
  }
  started.process = *std::move(process);
  Log(LogLevel::kInfo, "a check began", {{"slot", start.slot}, {"pid", started.process->pid()}});
  const auto sent = started.process->channel().Send(worker::Encode(worker::WorkerRequest{1, start.init}));
  if (!sent.has_value()) started.process->Kill();
}

void CheckProcesses::Kill(std::int64_t process) {
  const auto found = processes_.find(process);
  if (found != processes_.end() && found->second.process != nullptr) found->second.process->Kill();
}

void CheckProcesses::KillAll() {
  processes_.clear();
  RemoveAll(folder_);
}

void CheckProcesses::AddTo(std::vector<pollfd>& waiting) const {
  for (const auto& [number, each] : processes_) {
    if (each.process == nullptr || each.process->channel().closed()) continue;
    const short wanted = each.process->channel().has_unsent() ? POLLIN | POLLOUT : POLLIN;
    waiting.push_back({each.process->channel().socket(), wanted, 0});
  }
}

bool CheckProcesses::Has(pid_t pid) const {
  return std::ranges::any_of(processes_, [&](const auto& item) {
    return item.second.process != nullptr && item.second.process->pid() == pid;
  });
}

// What a dead one has said last is read before its end is noticed.
std::vector<CheckProcesses::Ended> CheckProcesses::TakeEnded() {
  std::vector<Ended> ended;
  for (auto each = processes_.begin(); each != processes_.end();) {
    auto& [process, finding, last_words] = each->second;
    const bool is_over = process == nullptr || process->HasEnded();
    if (process != nullptr) {
      static_cast<void>(process->channel().Flush());  // one that is gone is noticed as such
      for (const std::string& message : process->channel().Receive()) finding = FindingIn(message);
    }
    if (!is_over) {
      ++each;
      continue;
    }
    if (process != nullptr) last_words = process->LastWords();
    ended.push_back({each->first, std::move(finding), std::move(last_words)});
    RemoveAll(FolderOf(each->first));
    each = processes_.erase(each);
  }
  return ended;
}

}  // namespace espalier::node
