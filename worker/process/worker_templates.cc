#include "worker/process/worker_templates.h"

#include <algorithm>

#include "base/log.h"

namespace espalier::worker {
namespace {

// What is read when a library is loaded is a template's own; which GPUs are seen is not asked before one is used.
std::vector<std::string> WithoutGpus(std::vector<std::string> variables) {
  std::erase_if(variables, [](const std::string& each) { return each.starts_with("CUDA_VISIBLE_DEVICES="); });
  return variables;
}

}  // namespace

std::shared_ptr<WorkerTemplate> WorkerTemplates::For(const std::vector<std::string>& command, const WorkerPlace& place,
                                                     Seconds now) {
  const auto python_worker = AsPythonWorker(command);
  if (!python_worker.has_value()) return nullptr;
  Look(now);
  const std::vector<std::string> variables = WithoutGpus(place.variables);
  const auto found = entries_.find({python_worker->python, variables});
  if (found != entries_.end()) {
    if (found->second.process != nullptr) found->second.used_at = now;
    return found->second.process;
  }
  MakeRoom();
  ++started_;
  auto process = WorkerTemplate::Start(python_worker->python, variables, log_(started_),
                                       mark_ + "#template-" + std::to_string(started_));
  Entry entry{.process = process.has_value() ? *std::move(process) : nullptr, .used_at = now};
  return entries_.emplace(std::pair(python_worker->python, variables), std::move(entry)).first->second.process;
}

void WorkerTemplates::MakeRoom() {
  const auto lives = [](const auto& item) { return item.second.process != nullptr; };
  if (std::ranges::count_if(entries_, lives) < kTemplatesMax) return;
  const auto used_before = [&](const auto& a, const auto& b) {
    return std::pair(!lives(a), a.second.used_at) < std::pair(!lives(b), b.second.used_at);
  };
  entries_.erase(std::ranges::min_element(entries_, used_before));
}

void WorkerTemplates::Look(Seconds now) {
  for (auto& [key, entry] : entries_) {
    if (entry.process == nullptr || !entry.process->HasEnded() || entry.process->has_proved_itself()) continue;
    Log(LogLevel::kInfo, "workers of an interpreter are started one by one",
        {{"python", key.first.back()}, {"reason", entry.process->LastWords()}});
    entry.process = nullptr;
  }
  std::erase_if(entries_, [&](const auto& item) {
    const Entry& entry = item.second;
    if (entry.process == nullptr) return now - entry.used_at > kTemplateRetry;
    return entry.process->HasEnded() || now - entry.used_at > kTemplateIdle;
  });
}

bool WorkerTemplates::Has(pid_t pid) const {
  return std::ranges::any_of(
      entries_, [&](const auto& item) { return item.second.process != nullptr && item.second.process->pid() == pid; });
}

}  // namespace espalier::worker
