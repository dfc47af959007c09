// The real master's RPC server, event loop and core, and a node manager that trains at once.
#include "tests/conformance/master/backend.h"
#include "tests/support/toy_node.h"
#include "tests/unit/rpc/service.h"

namespace espalier::testing {
namespace {

class RealBackend : public Backend {
 public:
  std::shared_ptr<grpc::Channel> channel() override { return service_.channel; }
  std::string token() override { return member_; }
  void Train() override {}  // the node does, as soon as it is told to

 private:
  master::testing::Service service_;
  const std::string member_ = service_.AddUser("ann", "vision");
  const std::string node_ = service_.AddUser("toy", "", v1::ROLE_NODE);
  master::testing::ToyNode toy_{service_.channel, node_, 0.5};
};

}  // namespace

std::unique_ptr<Backend> MakeBackend() { return std::make_unique<RealBackend>(); }

}  // namespace espalier::testing
