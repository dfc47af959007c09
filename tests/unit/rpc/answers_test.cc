// The table of what each kind of caller is answered, as docs/users.md keeps it.
#include <fstream>
#include <iterator>
#include <map>

#include "tests/unit/rpc/access_cases.h"

namespace espalier::master::testing {
namespace {

std::string NameOf(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
      return "ok";
    case grpc::StatusCode::INVALID_ARGUMENT:
      return "invalid argument";
    case grpc::StatusCode::NOT_FOUND:
      return "not found";
    case grpc::StatusCode::ALREADY_EXISTS:
      return "already exists";
    case grpc::StatusCode::FAILED_PRECONDITION:
      return "failed precondition";
    case grpc::StatusCode::PERMISSION_DENIED:
      return "permission denied";
    case grpc::StatusCode::UNAUTHENTICATED:
      return "-";
    default:
      return "code " + std::to_string(code);
  }
}

// Of a call to a service in which ann's study is finished; another one for each call, for calls change it.
std::string AnswerTo(const Case& call, const std::function<std::string(World&)>& caller, const Door& door) {
  World world(door);
  world.RunAnnsStudy(v1::SCOPE_TEAM);
  const std::string token = caller(world);
  return NameOf(world.service.Call(token, call.method, *call.request).code);
}

std::map<std::string, Case> FirstCases() {
  std::map<std::string, Case> first;
  for (const Case& each : CasesOf(v1::SCOPE_TEAM)) first.emplace(each.method, each);
  return first;
}

const std::vector<std::function<std::string(World&)>> kCallers = {
    [](World& world) { return world.ann; },
    [](World& world) { return world.service.AddUser("amy", "vision"); },
    [](World& world) { return world.bob; },
    [](World& world) { return world.service.root; },
    [](World& world) { return world.service.AddUser("host", "", v1::ROLE_TUNER); },
};

}  // namespace

TEST_CASE("docs/users.md says what each kind of caller is answered, encrypted or not", "[large]") {
  const espalier::testing::Certificates certificates;
  const bool is_encrypted = GENERATE(false, true);
  std::string table;
  for (const auto& [method, call] : FirstCases()) {
    if (method.starts_with("NodeManagerService/")) continue;  // for node managers alone
    table += "| `" + method + "` |";
    for (const auto& caller : kCallers) {
      table += " " + AnswerTo(call, caller, is_encrypted ? TlsDoor(certificates) : Door{}) + " |";
    }
    table += "\n";
  }
  std::ifstream file(ESPALIER_SOURCE_DIR "/docs/users.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  INFO("what is to stand there:\n" << table);
  CHECK(text.find(table) != std::string::npos);
}

TEST_CASE("whose user is removed, and whoever has no token, is answered nothing, encrypted or not", "[large]") {
  const espalier::testing::Certificates certificates;
  World world(GENERATE(false, true) ? TlsDoor(certificates) : Door{});
  const std::string gone = world.service.AddUser("zoe", "vision");
  world.service.RemoveUser("zoe");
  for (const auto& [method, call] : FirstCases()) {
    INFO(method);
    CHECK(world.service.Call(gone, method, *call.request).code == grpc::StatusCode::UNAUTHENTICATED);
    CHECK(CallOnce(world.service.channel, "/espalier.v1." + method, *call.request, std::nullopt).code ==
          grpc::StatusCode::UNAUTHENTICATED);
  }
}

}  // namespace espalier::master::testing
