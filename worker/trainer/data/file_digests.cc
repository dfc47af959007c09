#include "worker/trainer/data/file_digests.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/digest.h"

namespace espalier::trainer {
namespace {

constexpr std::size_t kHexDigits = 64;
constexpr std::size_t kPieceBytes = 1 << 20;

Result<std::string> Digest(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 sha256;
  std::vector<char> piece(kPieceBytes);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    sha256.Update({piece.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (!file.eof()) return MakeError(ErrorCode::kInvalidArgument, "cannot read " + path.string());
  return sha256.FinishHex();
}

}  // namespace

FileDigests::FileDigests(std::filesystem::path memory) : memory_(std::move(memory)) {
  std::ifstream file(memory_);
  for (std::string line; std::getline(file, line);) {
    if (line.size() > kHexDigits + 1) known_[line.substr(kHexDigits + 1)] = line.substr(0, kHexDigits);
  }
}

FileDigests::~FileDigests() {
  if (has_new_) Remember();
}

Result<std::string> FileDigests::Of(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return MakeError(ErrorCode::kInvalidArgument, "cannot read " + path.string() + ": " + std::strerror(errno));
  }
  std::error_code error;
  const std::string key = std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) + "." +
                          std::to_string(status.st_mtim.tv_nsec) + " " + std::to_string(status.st_ino) + " " +
                          std::filesystem::absolute(path, error).string();
  if (const auto it = known_.find(key); it != known_.end()) return it->second;
  ESPALIER_ASSIGN(const std::string digest, Digest(path));
  known_[key] = digest;
  has_new_ = true;
  return digest;
}

void FileDigests::Remember() const {
  if (memory_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(memory_.parent_path(), error);
  const std::filesystem::path temporary = memory_.string() + "." + std::to_string(getpid());
  std::ofstream file(temporary);
  for (const auto& [key, digest] : known_) file << digest << " " << key << "\n";
  file.close();
  if (file) std::filesystem::rename(temporary, memory_, error);
}

}  // namespace espalier::trainer
