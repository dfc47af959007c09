// A folder of a test's own, that goes away with it.
#pragma once

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "worker/checkpoint/checkpoint_store.h"
#include "worker/checkpoint/file.h"

namespace espalier {

class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string pattern = "/tmp/espalier-checkpoint-XXXXXX") { path_ = mkdtemp(pattern.data()); }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

  // Of all files in it, sorted, but for the signs of stores.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      if (entry.path().filename() == kStoreSign || !entry.is_regular_file()) continue;
      names.push_back(entry.path().lexically_relative(path_).string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::filesystem::path path_;
};

using Names = std::vector<std::string>;

inline std::string Bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void Overwrite(const std::filesystem::path& path, std::string_view bytes) {
  REQUIRE(WriteWholeFile(path, std::array{bytes}).has_value());
}

}  // namespace espalier
