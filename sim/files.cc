#include "sim/files.h"

#include <iterator>

namespace espalier::sim {

Result<void> CheckpointFiles::CheckThere() const {
  if (clock_.now() >= away_until_) return {};
  return MakeError(ErrorCode::kUnavailable, "the checkpoint store is away");
}

Result<void> CheckpointFiles::Put(const std::string& name, const StateFile& file) {
  ESPALIER_RETURN_IF_ERROR(CheckThere());
  if (clock_.now() < full_until_ && !files_.contains(name)) {
    return MakeError(ErrorCode::kResourceExhausted, "the checkpoint store is full");
  }
  files_.insert_or_assign(name, file);
  return {};
}

Result<StateFile> CheckpointFiles::Fetch(const std::string& name) const {
  ESPALIER_RETURN_IF_ERROR(CheckThere());
  const auto file = files_.find(name);
  if (file == files_.end()) return MakeError(ErrorCode::kNotFound, "there is no file " + name);
  if (file->second.damaged) return MakeError(ErrorCode::kNotFound, "the file " + name + " is damaged");
  return file->second;
}

Result<void> CheckpointFiles::Remove(const std::string& name) {
  ESPALIER_RETURN_IF_ERROR(CheckThere());
  files_.erase(name);
  return {};
}

std::string CheckpointFiles::NameAt(std::int64_t place) const {
  if (files_.empty()) return {};
  return std::next(files_.begin(), place % std::ssize(files_))->first;
}

void CheckpointFiles::Damage(const std::string& name) {
  const auto file = files_.find(name);
  if (file != files_.end()) file->second.damaged = true;
}

}  // namespace espalier::sim
