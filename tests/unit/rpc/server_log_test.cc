// What node managers log, from them to administrators.
#include "espalier/v1/node_manager.pb.h"
#include "espalier/v1/server.pb.h"
#include "tests/support/toy_node.h"
#include "tests/unit/rpc/service.h"

namespace espalier::master::testing {
namespace {

v1::PutServerLogRequest Logged(std::int64_t position, const std::string& text) {
  const v1::Registration registration = ToyNode::FirstRequest().registration();
  v1::PutServerLogRequest request;
  request.set_server(registration.server());
  request.set_incarnation(registration.incarnation());
  request.set_position(position);
  request.set_text(text);
  return request;
}

v1::GetServerLogRequest LogOf(const std::string& server, std::int64_t after = 0) {
  v1::GetServerLogRequest request;
  request.set_server(server);
  request.set_after(after);
  return request;
}

}  // namespace

TEST_CASE("an administrator reads on what a registered node manager logs, and no other node manager's is taken") {
  Service service;
  const std::string token = service.AddUser("node", "", v1::ROLE_NODE);
  const v1::PutServerLogRequest first = Logged(0, "one\n");
  const Outcome early = service.Call(token, "NodeManagerService/PutServerLog", first);
  CHECK(early.code == grpc::StatusCode::UNAVAILABLE);  // it is to come again
  CHECK(early.message.find("registered") != std::string::npos);

  const ToyNode node(service.channel, token, 0.5);
  service.Get<v1::PutServerLogResponse>(token, "NodeManagerService/PutServerLog", first);
  service.Get<v1::PutServerLogResponse>(token, "NodeManagerService/PutServerLog", Logged(4, "two\n"));
  const auto all =
      service.Get<v1::GetServerLogResponse>(service.root, "ServerService/GetServerLog", LogOf(first.server()));
  REQUIRE(all.pieces_size() == 2);
  CHECK(all.pieces(1).position() == 4);
  CHECK(all.pieces(1).text() == "two\n");
  CHECK(all.pieces(1).incarnation() == first.incarnation());

  const auto nothing_new = service.Get<v1::GetServerLogResponse>(service.root, "ServerService/GetServerLog",
                                                                 LogOf(first.server(), all.next()));
  CHECK(nothing_new.pieces().empty());
  CHECK(nothing_new.next() == all.next());

  v1::PutServerLogRequest of_another = first;
  of_another.set_incarnation("another");
  CHECK(service.Call(token, "NodeManagerService/PutServerLog", of_another).code == grpc::StatusCode::UNAVAILABLE);
}

TEST_CASE("whoever asks for the log of a server that has none is told where servers are listed") {
  Service service;
  const Outcome outcome = service.Call(service.root, "ServerService/GetServerLog", LogOf("gpu-17"));
  CHECK(outcome.code == grpc::StatusCode::NOT_FOUND);
  CHECK(outcome.message.find("\"gpu-17\"; `espalier server list`") != std::string::npos);
}

}  // namespace espalier::master::testing
