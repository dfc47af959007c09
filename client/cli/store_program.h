// The checkpoint store as commands use it: through the program espalier-store beside this one, which knows all kinds of
// stores. A command runs where the store can be reached.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "client/cli/command_context.h"

namespace espalier {

struct StoredFile {
  std::string name;
  std::int64_t bytes = 0;
  Time written_at{};  // by the store's clock, to the second
};

class StoreProgram {
 public:
  // `place`: as --store gave it; empty: that of the node manager that `espalier up` runs on the data directory.
  // Error: kFailedPrecondition when the program is missing, or no place is known.
  static Result<StoreProgram> Find(const CommandContext& context, const std::string& place);

  const std::string& place() const { return place_; }

  // By name. Error of each: kInternal, the program's words: the store is away, say.
  Result<std::vector<StoredFile>> List() const;
  // To a file that is not there yet; what is copied was read from end to end, and is whole.
  Result<void> Get(const std::string& name, const std::filesystem::path& file) const;
  // What is not there is removed already.
  Result<void> Remove(const std::vector<std::string>& names) const;

 private:
  StoreProgram(std::string program, std::string place) : program_(std::move(program)), place_(std::move(place)) {}

  std::string program_;
  std::string place_;
};

// --store PLACE
void AddStoreOption(Command& command, std::string& place);

}  // namespace espalier
