#include "worker/process/log_ring.h"

#include <string>

namespace espalier::worker {
namespace {

std::filesystem::path Past(const std::filesystem::path& log, int age) {
  return log.string() + "." + std::to_string(age);
}

void MakeRoom(const std::filesystem::path& log) {
  std::error_code ignored;
  for (int age = kPastLogs; age > 1; --age) std::filesystem::rename(Past(log, age - 1), Past(log, age), ignored);
}

}  // namespace

void PutLogAside(const std::filesystem::path& log) {
  std::error_code ignored;
  if (!std::filesystem::exists(log, ignored)) return;
  MakeRoom(log);
  std::filesystem::rename(log, Past(log, 1), ignored);
}

bool PutOpenLogAside(const std::filesystem::path& log, std::uintmax_t bytes_max) {
  std::error_code error;
  if (std::filesystem::file_size(log, error) <= bytes_max || error) return false;
  MakeRoom(log);
  std::filesystem::copy_file(log, Past(log, 1), std::filesystem::copy_options::overwrite_existing, error);
  std::filesystem::resize_file(log, 0, error);
  return true;
}

}  // namespace espalier::worker
