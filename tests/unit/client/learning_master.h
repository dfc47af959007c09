// A fake master whose trials learn by a formula, and a client that is connected to it.
#pragma once

#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "client/client.h"
#include "tests/support/fake_master.h"

namespace espalier {

using testing::FakeMaster;
using testing::FakeMasterOptions;

inline std::string SocketPath() {
  static std::atomic<int> count = 0;
  return std::filesystem::temp_directory_path() /
         ("espalier-test-" + std::to_string(getpid()) + "-" + std::to_string(count++));
}

// The later the better, and the larger lr the better; lr of "bad" fails.
inline std::optional<testing::Metrics> Learn(const testing::Sequences& sequences, std::int64_t steps) {
  const std::string& lr = sequences.at("lr");
  if (lr == "bad") return std::nullopt;
  return testing::Metrics{{"test_acc", std::stod(lr) + static_cast<double>(steps) / 1000}};
}

inline FakeMasterOptions Options() { return {.socket_path = SocketPath(), .train = Learn, .trainers = {}}; }

inline FakeMasterOptions ByHand() {
  FakeMasterOptions options = Options();
  options.settle_seed.reset();
  return options;
}

inline constexpr RetryPolicy kQuick{.first_pause = Seconds{0.001}, .longest_pause = Seconds{0.01}};

inline Client Connect(const FakeMaster& master) {
  Result<Client> client = Client::Connect(master.address(), kQuick);
  REQUIRE(client.has_value());
  return *client;
}

inline Study Create(Client& client, const std::string& name = "s") {
  Result<Study> study = client.CreateStudy({.name = name,
                                            .trainer = "mlp",
                                            .data = "digits",
                                            .step = StepMeaning{},
                                            .metric = "test_acc",
                                            .goal = Goal::kMaximize,
                                            .scope = Scope::kStudy,
                                            .definition = "{}"});
  REQUIRE(study.has_value());
  return *study;
}

}  // namespace espalier
