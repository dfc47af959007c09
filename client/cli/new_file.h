// A file that is made whole or not at all: written beside its place, and moved there at the end.
#pragma once

#include <fstream>
#include <optional>
#include <ostream>
#include <string>

#include "base/result.h"

namespace espalier {

class NewFile {
 public:
  // Errors, of the field `option`, which gave the path: kAlreadyExists if there is something of that name,
  // kInvalidArgument if it cannot be made.
  static Result<NewFile> Create(const std::string& path, const std::string& option = "--file");
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  // Removes what was written, unless it was kept.
  ~NewFile();

  std::ostream& stream() { return stream_; }

  // Puts it in its place. Errors: as Create; kInternal if it could not be written whole. REQUIRES: called once, last.
  Result<void> Keep();

 private:
  NewFile(std::string path, std::string temporary, std::string option);

  std::string path_;
  std::string temporary_;  // empty: moved away
  std::string option_;
  std::ofstream stream_;
};

}  // namespace espalier
