// A master meets programs of newer versions.
#include "base/version.h"
#include "espalier/v1/study.pb.h"
#include "proto/channel.h"
#include "proto/unknown_parts.h"
#include "tests/unit/rpc/all_methods.h"
#include "tests/unit/rpc/service.h"

namespace espalier::master::testing {
namespace {

// Field 9999, a number, of whatever message it is put behind.
const std::string kNewField("\xf8\xf0\x04\x01", 4);

std::string FieldOf(const std::optional<UnknownPart>& part) { return part ? part->field : "none"; }

}  // namespace

TEST_CASE("every RPC refuses a request with a field that the server does not know, and says which") {
  Service service;
  const std::string node = service.AddUser("node", "", v1::ROLE_NODE);
  for (const std::string& method : AllMethods()) {
    INFO(method);
    const std::string& token = method.starts_with("NodeManagerService/") ? node : service.root;
    RawCall call(service.channel, "/espalier.v1." + method, "Bearer " + token);
    call.WriteBytes(kNewField);
    call.WritesDone();
    const Outcome outcome = call.Finish();
    CHECK(outcome.code == grpc::StatusCode::UNIMPLEMENTED);
    CHECK(outcome.message.find("does not know field 9999 of a ") != std::string::npos);
    CHECK(outcome.message.find(std::string(UserAgent())) != std::string::npos);
    CHECK(outcome.details.find(".9999") != std::string::npos);
  }
}

TEST_CASE("a refusal names the caller's version if it says one") {
  Service service;
  const auto message = [&](const std::shared_ptr<grpc::Channel>& channel) {
    RawCall call(channel, "/espalier.v1.InspectService/GetStudy", "Bearer " + service.root);
    call.WriteBytes(kNewField);
    call.WritesDone();
    return call.Finish().message;
  };
  CHECK(message(OpenChannel(service.address()).value()).find("this program, " + std::string(UserAgent()) + ", sends") !=
        std::string::npos);
  grpc::ChannelArguments arguments;
  arguments.SetUserAgentPrefix("espalier/99.0.1");
  const auto newer = grpc::CreateCustomChannel(service.address(), grpc::InsecureChannelCredentials(), arguments);
  CHECK(message(newer).find("this program, espalier/99.0.1, sends") != std::string::npos);
}

TEST_CASE("a study whose scope the server does not know is refused, not created as something else") {
  Service service;
  const std::string ann = service.AddUser("ann", "vision");
  v1::CreateStudyRequest request;
  request.set_request_id("1");
  request.mutable_study()->set_name("study");
  request.mutable_study()->set_scope(static_cast<v1::Scope>(77));
  const Outcome outcome = service.Call(ann, "StudyService/CreateStudy", request);
  CHECK(outcome.code == grpc::StatusCode::UNIMPLEMENTED);
  CHECK(outcome.message.find("does not know the value 77 of scope in a StudySpecification") != std::string::npos);
}

TEST_CASE("what is not known is found at any depth, in lists and in maps") {
  v1::CreateStudyRequest request;
  request.mutable_study()->set_scope(v1::SCOPE_TEAM);
  (*request.mutable_study()->mutable_undeclared())["lr"] = v1::VALUE_TYPE_FLOATING;
  CHECK_FALSE(FindUnknown(request));
  (*request.mutable_study()->mutable_undeclared())["bs"] = static_cast<v1::ValueType>(50);
  CHECK(FieldOf(FindUnknown(request)) == "UndeclaredEntry.value");
  CHECK(FieldOf(FindUnknownValue(request)) == "UndeclaredEntry.value");

  v1::SubmitRequest submit;
  submit.add_new_trials();
  REQUIRE(submit.add_new_trials()->ParseFromString(kNewField));
  CHECK(FieldOf(FindUnknown(submit)) == "NewTrial.9999");
  CHECK_FALSE(FindUnknownValue(submit));  // an answer may have more than is known
}

}  // namespace espalier::master::testing
