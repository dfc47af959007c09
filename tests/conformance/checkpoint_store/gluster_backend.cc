// Run by tests/gluster/with_volume.py, which says where the volume is and how its only brick is taken away and brought
// back.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/conformance/checkpoint_store/backend.h"
#include "tests/support/temporary_folder.h"
#include "worker/checkpoint/gluster/gluster_checkpoint_store.h"

namespace espalier {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  REQUIRE(value != nullptr);
  return value;
}

GlusterLocation NewFolder() {
  static int count = 0;
  return ParseGlusterLocation(Environment("ESPALIER_GLUSTER") + "/deep/store-" + std::to_string(++count)).value();
}

class GlusterBackend : public StoreBackend {
 public:
  CheckpointStore& store() override { return *store_; }
  void TakeAway() override { REQUIRE(std::system(Environment("ESPALIER_GLUSTER_TAKE_AWAY").c_str()) == 0); }
  // The client connects again by itself, a while later.
  void BringBack() override {
    REQUIRE(std::system(Environment("ESPALIER_GLUSTER_BRING_BACK").c_str()) == 0);
    while (!store_->Space().has_value()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

 private:
  static std::unique_ptr<GlusterCheckpointStore> Created(const std::filesystem::path& copies) {
    const GlusterLocation location = NewFolder();
    const Result<void> created = GlusterCheckpointStore::Create(location);
    INFO((created.has_value() ? "" : created.error().message));
    REQUIRE(created.has_value());
    return std::make_unique<GlusterCheckpointStore>(location, copies);
  }

  const TemporaryFolder copies_;
  const std::unique_ptr<GlusterCheckpointStore> store_ = Created(copies_.path());
};

// Connections are made with it, and nobody reads what they send.
class SilentServer {
 public:
  SilentServer() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(bind(socket_, any, length) == 0);
    REQUIRE(listen(socket_, 8) == 0);
    REQUIRE(getsockname(socket_, any, &length) == 0);
    port_ = ntohs(address.sin_port);
  }
  SilentServer(const SilentServer&) = delete;
  ~SilentServer() { close(socket_); }

  int port() const { return port_; }

 private:
  const int socket_ = socket(AF_INET, SOCK_STREAM, 0);
  int port_ = 0;
};

}  // namespace

std::unique_ptr<StoreBackend> NewStore() { return std::make_unique<GlusterBackend>(); }

TEST_CASE("what was fetched is copied once for all who read it, and the copy goes with the last of them") {
  const TemporaryFolder folder;
  Overwrite(folder / "staged", "content");
  const GlusterLocation location = NewFolder();
  REQUIRE(GlusterCheckpointStore::Create(location).has_value());
  std::filesystem::create_directory(folder / "copies");
  GlusterCheckpointStore store(location, folder / "copies");
  REQUIRE(store.Put(folder / "staged", "a").has_value());
  {
    const PinnedFile first = store.Fetch("a").value();
    const PinnedFile second = store.Fetch("a").value();
    CHECK(first.path() == second.path());
  }
  CHECK(folder.Names() == Names{"staged"});
}

TEST_CASE("a folder of a volume that was never made a store is away, and so is a volume that is not there") {
  const TemporaryFolder folder;
  GlusterCheckpointStore store(NewFolder(), folder.path());
  CHECK(store.List().error().code == ErrorCode::kUnavailable);
  GlusterLocation location = NewFolder();
  location.volume = "nothing";
  GlusterCheckpointStore nowhere(location, folder.path());
  CHECK(nowhere.List().error().code == ErrorCode::kUnavailable);
  CHECK(nowhere.List().error().message.find("cannot reach the GlusterFS volume nothing") != std::string::npos);
}

TEST_CASE("a server that does not answer is passed over for the next") {
  const TemporaryFolder folder;
  GlusterLocation location = NewFolder();
  location.servers.insert(location.servers.begin(), {.host = "127.0.0.1", .port = 9});
  REQUIRE(GlusterCheckpointStore::Create(location).has_value());
  CHECK(GlusterCheckpointStore(location, folder.path()).List().value().empty());
}

TEST_CASE("a server that takes the call and says nothing is given up, and the next try begins with another") {
  const TemporaryFolder folder;
  const SilentServer silent;
  GlusterLocation location = NewFolder();
  REQUIRE(GlusterCheckpointStore::Create(location).has_value());
  location.servers.insert(location.servers.begin(), {.host = "127.0.0.1", .port = silent.port()});
  GlusterCheckpointStore store(location, folder.path());
  const Result<std::vector<ListedFile>> refused = store.List();
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kUnavailable);
  CHECK(refused.error().message.find("no answer") != std::string::npos);
  CHECK(store.List().has_value());
}

}  // namespace espalier
