// The master that tests of clients call.
#include <unistd.h>

#include <filesystem>

#include "tests/conformance/master/backend.h"
#include "tests/support/fake_master.h"

namespace espalier::testing {
namespace {

class FakeBackend : public Backend {
 public:
  std::shared_ptr<grpc::Channel> channel() override {
    return grpc::CreateChannel(master_.address(), grpc::InsecureChannelCredentials());
  }
  std::string token() override { return "anybody"; }
  void Train() override {
    while (master_.Settle(0)) {
    }
  }

 private:
  FakeMaster master_{
      {.socket_path = std::filesystem::temp_directory_path() / ("espalier-conformance-" + std::to_string(getpid())),
       .train =
           [](const Sequences&, std::int64_t) {
             return Metrics{{"score", 0.5}};
           },
       .trainers = {},
       .settle_seed = std::nullopt}};
};

}  // namespace

std::unique_ptr<Backend> MakeBackend() { return std::make_unique<FakeBackend>(); }

}  // namespace espalier::testing
