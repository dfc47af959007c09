// A folder of data that a test writes; it goes away with the test.
#pragma once

#include <stdlib.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "worker/trainer/data/data_folder.h"
#include "worker/trainer/data/data_source.h"

namespace espalier::trainer::test {

struct DataFolder {
  DataFolder() : path(mkdtemp(std::string("/tmp/espalier-data-XXXXXX").data())) {}
  ~DataFolder() { std::filesystem::remove_all(path); }
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;

  void Write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << bytes;
  }
  void Pack(const std::string& name, const std::string& bytes) const {
    const gzFile file = gzopen((path / name).c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
  }
  DataSource Found() const {
    FileDigests digests("");
    return FindDataFolder("data", path, digests).value();
  }

  const std::filesystem::path path;
};

}  // namespace espalier::trainer::test
