#include "worker/node/output_sender.h"

#include <grpcpp/grpcpp.h>

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/log_tail.h"
#include "espalier/v1/node_manager.grpc.pb.h"
#include "tests/unit/node/process_harness.h"

namespace espalier::node {

TEST_CASE("that the master refuses the log is said once, though what is said is sent to it next") {
  TemporaryFolder folder;
  const std::string address = "unix:" + (folder.path() / "master.sock").string();
  v1::NodeManagerService::Service master;  // implements nothing
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(&master);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  static LogTail log(kServerLogPartBytesMax);  // a process sets up its log once, for good
  SetUpLog("test", LogLevel::kInfo, &log);
  LoopQueue queue;
  OutputSender sender(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()), "", queue);
  const auto send = [&](const std::string& text) {
    sender.Send(ServerLogPart{"server", "incarnation", 0, text});
    REQUIRE(Eventually([&] {
      queue.RunAll();
      return !sender.is_sending();
    }));
  };
  send("a line\n");
  const std::optional<LogTail::Part> said = log.Take(kServerLogPartBytesMax);
  REQUIRE(said.has_value());
  CHECK(said->text.find("the master does not take what was printed") != std::string::npos);
  send(said->text);
  CHECK_FALSE(log.Take(kServerLogPartBytesMax).has_value());
}

}  // namespace espalier::node
