// Which token the client shows, and that every call shows it.
#include "base/token.h"

#include <fstream>
#include <map>
#include <mutex>

#include "client/client.h"
#include "client/connection.h"
#include "tests/unit/client/generic_server.h"

namespace espalier {
namespace {

// Answers every call of every method with UNAUTHENTICATED, and writes down what authorization it showed.
class Doorkeeper : public testing::GenericServer {
 public:
  Doorkeeper() : GenericServer("doorkeeper") {}
  ~Doorkeeper() override { Stop(); }

  void PutBesideSocket(const std::string& text) { std::ofstream(folder() / "token") << text; }
  // By method; empty: the call showed nothing.
  std::map<std::string, std::string> shown() {
    const std::lock_guard lock(mutex_);
    return shown_;
  }
  std::string ShownToList() { return shown()["/espalier.v1.InspectService/ListStudies"]; }

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    const auto authorization = context->client_metadata().find("authorization");
    {
      const std::lock_guard lock(mutex_);
      std::string& shown = shown_[context->method()];
      shown.clear();
      if (authorization != context->client_metadata().end()) {
        shown.assign(authorization->second.data(), authorization->second.size());
      }
    }
    return new Refusal;
  }

 private:
  struct Refusal : grpc::ServerGenericBidiReactor {
    Refusal() { Finish({grpc::StatusCode::UNAUTHENTICATED, "nobody has this token"}); }
    void OnDone() override { delete this; }
  };

  std::mutex mutex_;
  std::map<std::string, std::string> shown_;
};

}  // namespace

TEST_CASE("a client shows the token that it is given, or else the one that lies beside the socket, or none") {
  Doorkeeper door;
  const auto shown = [&](const std::string& token) {
    Client client = Client::Connect(door.address(), token).value();
    CHECK(client.connection().ListStudies({}).error().code == ErrorCode::kUnauthenticated);
    return door.ShownToList();
  };
  const std::string given = NewToken();
  const std::string beside = NewToken();
  CHECK(shown("").empty());
  CHECK(shown(given + "\n") == "Bearer " + given);
  door.PutBesideSocket(beside + "\n");
  CHECK(shown("") == "Bearer " + beside);
  CHECK(shown(given) == "Bearer " + given);
  door.PutBesideSocket("nothing of the kind");
  CHECK(shown("").empty());
}

TEST_CASE("text that is no token is refused before anything is sent") {
  Doorkeeper door;
  for (const char* text : {"secret", "a b", "\x01", "\xff"}) {
    const Result<Client> client = Client::Connect(door.address(), text);
    REQUIRE_FALSE(client.has_value());
    CHECK(client.error().code == ErrorCode::kUnauthenticated);
  }
  CHECK(door.shown().empty());
}

TEST_CASE("every call shows the token, and one that is refused is not repeated") {
  Doorkeeper door;
  const std::string token = NewToken();
  Client client = Client::Connect(door.address(), token).value();
  Connection& calls = client.connection();
  const std::vector<Error> errors = {
      calls.CreateStudy({}).error(), calls.Submit({}).error(),
      calls.CancelStudy({}).error(), calls.ListTrainers({}).error(),
      calls.ListServers({}).error(), calls.ListStudies({}).error(),
      calls.GetStudy({}).error(),    calls.ListTrials({}).error(),
      calls.GetPlan({}).error(),     calls.Forecast({}).error(),
      calls.AddUser({}).error(),     calls.ListUsers({}).error(),
      calls.RemoveUser({}).error(),  client.OpenStudy(StudyId{1}).WaitUntilFinished().error()};
  for (const Error& error : errors) CHECK(error == Error{ErrorCode::kUnauthenticated, "nobody has this token", ""});
  CHECK(door.shown().size() == errors.size());
  for (const auto& [method, shown] : door.shown()) {
    INFO(method);
    CHECK(shown == "Bearer " + token);
  }
}

}  // namespace espalier
