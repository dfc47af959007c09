#include "worker/checkpoint/names_in_use.h"

#include "base/check.h"

namespace espalier {

NamesInUse::Held NamesInUse::Hold(std::string_view name) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !held_.contains(name); });
  held_.emplace(name);
  return {*this, name};
}

void NamesInUse::LetGo(const std::string& name) {
  {
    const std::lock_guard lock(mutex_);
    held_.erase(name);
  }
  changed_.notify_all();
}

void NamesInUse::Pin(std::string_view name) {
  const std::lock_guard lock(mutex_);
  ++pins_[std::string(name)];
}

bool NamesInUse::IsPinned(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return pins_.contains(name);
}

bool NamesInUse::Unpin(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto it = pins_.find(name);
  ESPALIER_CHECK(it != pins_.end()) << "'" << name << "' is not pinned";
  if (--it->second > 0) return false;
  pins_.erase(it);
  return true;
}

void NamesInUse::OweRemoval(std::string_view name) {
  const std::lock_guard lock(mutex_);
  owed_removals_.emplace(name);
}

bool NamesInUse::ForgetOwedRemoval(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto it = owed_removals_.find(name);
  if (it == owed_removals_.end()) return false;
  owed_removals_.erase(it);
  return true;
}

}  // namespace espalier
