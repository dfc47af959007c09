// A client meets a server of a newer version.
#include "base/version.h"
#include "client/client.h"
#include "client/connection.h"
#include "client/event_reader.h"
#include "espalier/v1/study.pb.h"
#include "tests/unit/client/generic_server.h"

namespace espalier {
namespace {

// Answers every call with the same bytes, or with the same refusal.
class NewerServer : public testing::GenericServer {
 public:
  explicit NewerServer(std::string answer, grpc::Status status = grpc::Status::OK)
      : GenericServer("newer-server"), answer_(std::move(answer)), status_(std::move(status)) {}
  ~NewerServer() override { Stop(); }

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new OneAnswer(answer_, status_);
  }

 private:
  class OneAnswer : public grpc::ServerGenericBidiReactor {
   public:
    OneAnswer(const std::string& answer, const grpc::Status& status) {
      if (!status.ok()) {
        Finish(status);
        return;
      }
      const grpc::Slice slice(answer);
      buffer_ = grpc::ByteBuffer(&slice, 1);
      StartWriteAndFinish(&buffer_, grpc::WriteOptions(), status);
    }
    void OnDone() override { delete this; }

   private:
    grpc::ByteBuffer buffer_;
  };

  const std::string answer_;
  const grpc::Status status_;
};

// Why the events of a study are read no further.
Error WhyNotRead(const v1::WatchResponse& response) {
  NewerServer server(response.SerializeAsString());
  Client client = Client::Connect(server.address(), "").value();
  EventReader reader(client.connection(), StudyId{1}, /*tunes=*/false);
  const Result<EventsRead> read = reader.Next();
  REQUIRE_FALSE(read.has_value());
  return read.error();
}

}  // namespace

TEST_CASE("an answer with a value that the client does not know is an error, not a guess") {
  v1::ListStudiesResponse response;
  response.add_studies()->set_goal(static_cast<v1::Goal>(55));
  NewerServer server(response.SerializeAsString());
  Client client = Client::Connect(server.address(), "").value();
  const auto studies = client.connection().ListStudies({});
  REQUIRE_FALSE(studies.has_value());
  CHECK(studies.error().code == ErrorCode::kWrongVersion);
  CHECK(studies.error().message.find("the value 55 of goal in a StudyListing") != std::string::npos);
  CHECK(studies.error().message.find(std::string(UserAgent())) != std::string::npos);
}

TEST_CASE("an answer may have fields that the client does not know") {
  v1::ListStudiesResponse response;
  response.add_studies()->set_name("study");
  NewerServer server(response.SerializeAsString() + std::string("\xf8\xf0\x04\x01", 4));
  Client client = Client::Connect(server.address(), "").value();
  const auto studies = client.connection().ListStudies({});
  REQUIRE(studies.has_value());
  CHECK(studies->studies(0).name() == "study");
}

TEST_CASE("events of a study that the client does not know end their reading") {
  v1::WatchResponse kind;
  kind.add_events()->set_number(7);
  CHECK(WhyNotRead(kind).code == ErrorCode::kWrongVersion);
  CHECK(WhyNotRead(kind).message.find("event 7") != std::string::npos);
  v1::WatchResponse state;
  state.add_events()->mutable_claim_settled()->set_state(static_cast<v1::ClaimSettled::State>(9));
  CHECK(WhyNotRead(state).message.find("the value 9 of state in a ClaimSettled") != std::string::npos);
}

TEST_CASE("what a server says that it does not know of a request reaches the user as it says it") {
  v1::ErrorDetail detail;
  detail.set_field("SubmitRequest.17");
  const grpc::Status refusal(grpc::StatusCode::UNIMPLEMENTED, "the server does not know field 17",
                             detail.SerializeAsString());
  NewerServer server("", refusal);
  Client client = Client::Connect(server.address(), "").value();
  const auto studies = client.connection().ListStudies({});
  REQUIRE_FALSE(studies.has_value());
  CHECK(studies.error().code == ErrorCode::kWrongVersion);
  CHECK(studies.error().message == "the server does not know field 17");
  CHECK(studies.error().field == "SubmitRequest.17");
}

}  // namespace espalier
