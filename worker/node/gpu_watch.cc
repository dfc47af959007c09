#include "worker/node/gpu_watch.h"

#include "base/log.h"

namespace espalier::node {

GpuWatch::GpuWatch(std::unique_ptr<GpuLibrary> library, LoopQueue& queue)
    : library_(std::move(library)), queue_(queue), thread_(library_ == nullptr ? 0 : 1) {}

void GpuWatch::Look(std::map<int, std::string> gpus, std::function<void(const Seen&)> done) {
  if (library_ == nullptr || is_looking_ || gpus.empty()) return;
  is_looking_ = true;
  thread_.Do([this, gpus = std::move(gpus), done = std::move(done)] {
    std::map<int, Result<GpuUse>> uses;
    for (const auto& [device, names] : gpus) uses.emplace(device, library_->UseOf(names));
    queue_.Post([this, gpus, done, uses = std::move(uses)] {
      is_looking_ = false;
      Seen seen;
      for (const auto& [device, use] : uses) {
        Note(device, gpus.at(device), use);
        if (use.has_value()) seen.emplace(device, *use);
      }
      done(seen);
    });
  });
}

void GpuWatch::Note(int device, const std::string& gpus, const Result<GpuUse>& use) {
  if (use.has_value()) {
    failing_.erase(device);
  } else if (failing_.insert(device).second) {
    Log(LogLevel::kWarning, "what a GPU does cannot be seen", {{"gpu", gpus}, {"reason", use.error().message}});
  }
}

}  // namespace espalier::node
