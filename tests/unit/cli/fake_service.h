// A fake master, and a study for it: what tests of commands need.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "tests/support/fake_master.h"
#include "tests/support/mlp_trainer.h"

namespace espalier::testing {

// A directory that goes with the test.
class Directory {
 public:
  Directory() : path_(std::filesystem::temp_directory_path() / ("espalier-cli-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Directory() { std::filesystem::remove_all(path_); }

  std::string File(const std::string& name) const { return path_ / name; }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(File(name)) << text;
    return File(name);
  }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string Content(const std::string& file) {
  std::ostringstream content;
  content << std::ifstream(file).rdbuf();
  return content.str();
}

// What trials measure: more with more steps, and the more the higher their rate, but for the highest, which fails.
inline std::optional<Metrics> Learn(const Sequences& sequences, std::int64_t steps) {
  const std::string& lr = sequences.at("lr");
  if (lr == "0.4") return std::nullopt;
  return Metrics{{"test_acc", std::stod(lr) + static_cast<double>(steps) / 1000}};
}

inline FakeMasterOptions MasterOptions(const Directory& directory) {
  return {.socket_path = directory.File("socket"), .train = Learn, .trainers = {MlpTrainer()}};
}

// A study file of four rates by successive halving, at 2, 4 and 8 steps.
inline std::string StudyNamed(const std::string& name) {
  return "study: " + name + R"yaml(
trainer: mlp
data: digits
hyper_parameters:
  lr: [0.1, 0.2, 0.3, 0.4]
  seed: 1
metric: {name: test_acc, goal: max}
tuner: {sha: {min: 2, max: 8, reduction: 2}}
)yaml";
}

}  // namespace espalier::testing
