// The checkpoint store as clients use it: through the program espalier-store, beside this one or on the PATH, which
// knows all kinds of stores. Used where the store can be reached.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace espalier {

struct StoredFile {
  std::string name;
  std::int64_t bytes = 0;
  Time written_at{};  // by the store's clock, to the second
};

class StoreProgram {
 public:
  // `place`: as node managers' configuration files say it.
  explicit StoreProgram(std::string place) : place_(std::move(place)) {}

  const std::string& place() const { return place_; }

  // By name. Error of each: kInternal, the program's words: the store is away, say; kFailedPrecondition when it is not
  // installed.
  Result<std::vector<StoredFile>> List() const;
  // To a file that is not there yet; what is copied was read from end to end, and is whole.
  Result<void> Get(const std::string& name, const std::filesystem::path& file) const;
  // What is not there is removed already.
  Result<void> Remove(const std::vector<std::string>& names) const;

 private:
  std::string place_;
};

}  // namespace espalier
