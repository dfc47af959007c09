// A program's file of its state, within a checkpoint file and out of it. What is kept is, besides, whose state it is,
// so that no other training takes it over. Files are streamed, not held.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "worker/checkpoint/checkpoint_format.h"

namespace espalier::script {

// A file that is deleted when nobody needs it any more.
class StateFile {
 public:
  explicit StateFile(std::filesystem::path path) : path_(std::move(path)) {}
  ~StateFile();
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_;
};

// The same of a folder with all that is in it.
class ScratchFolder {
 public:
  // Creates it. What cannot be created is noticed by who writes into it.
  explicit ScratchFolder(std::filesystem::path path);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_;
};

// Whether the program has written what it says. Error: kInternal, which says what is wrong with it.
Result<void> CheckProgramFile(const std::filesystem::path& file, bool is_safetensors);

// What the program has written at the step, as a checkpoint file: of a safetensors file the arrays, and its metadata as
// one more; of any other its bytes as one array. `origin`: a text that is equal for the trainings that may take it
// over. Error: kInternal.
Result<WrittenCheckpoint> WriteState(const std::filesystem::path& to, const worker::CheckpointIdentity& identity,
                                     const std::filesystem::path& file, bool is_safetensors, const std::string& origin);

// The other way: writes the program's file again, and gives the step. `origin`: none: whoever's state it is. Errors:
// kNotFound for a checkpoint file that is missing, damaged, foreign or of another origin; kUnavailable when the system
// cannot read it now; kInternal when the other cannot be written.
Result<Step> ReadState(const std::filesystem::path& from, const std::filesystem::path& file,
                       const std::optional<std::string>& origin);

}  // namespace espalier::script
