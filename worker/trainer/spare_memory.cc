#include "worker/trainer/spare_memory.h"

#include <malloc.h>

#include <map>
#include <mutex>
#include <utility>

namespace espalier::trainer {
namespace {

constexpr std::size_t kLargeBytes = 1 << 20;

struct Spare {
  std::mutex mutex;
  std::multimap<std::size_t, std::string> texts;  // by length
};

Spare& TheSpare() {
  static Spare spare;
  return spare;
}

}  // namespace

std::string TakeBytes(std::size_t count) {
  Spare& spare = TheSpare();
  const std::lock_guard lock(spare.mutex);
  const auto taken = spare.texts.extract(count);
  return taken.empty() ? std::string(count, '\0') : std::move(taken.mapped());
}

void KeepMemoryOf(State&& state) {
  std::multimap<std::size_t, std::string> texts;
  for (auto& [name, array] : state) {
    if (array.bytes.size() >= kLargeBytes) texts.emplace(array.bytes.size(), std::move(array.bytes));
  }
  Spare& spare = TheSpare();
  const std::lock_guard lock(spare.mutex);
  spare.texts = std::move(texts);
}

void ForgetSpareMemory() {
  KeepMemoryOf({});
  malloc_trim(0);
}

}  // namespace espalier::trainer
