#include "master/rpc/stream_places.h"

namespace espalier::master {

Result<StreamPlaces::Place> StreamPlaces::Take(const std::string& user) {
  const std::lock_guard lock(mutex_);
  const auto [taken, is_first] = taken_.try_emplace(user, 0);
  if (taken->second == most_) {
    return MakeError(ErrorCode::kResourceExhausted, user + " has " + std::to_string(most_) + " " + what_ +
                                                        " open, and nobody may have more; end some of them first");
  }
  ++taken->second;
  return Place(nullptr, [this, taken = taken](void*) {
    const std::lock_guard giving_up(mutex_);
    if (--taken->second == 0) taken_.erase(taken);
  });
}

}  // namespace espalier::master
