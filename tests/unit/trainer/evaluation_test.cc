// What a failed evaluation leaves of a training.
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "espalier/v1/trainer.pb.h"
#include "tests/unit/trainer/faulty_trainer.h"
#include "worker/trainer/frame.h"
#include "worker/trainer/session.h"
#include "worker/trainer/training.h"

namespace espalier::trainer {
namespace {

const std::vector<TrainerKind> kKinds{test::FaultyTrainer()};

HyperParameterValues Fault(const std::string& fault) { return {{"fault", fault}}; }

Training Begun() {
  Training training = Training::Begin(kKinds, {.trainer = "faulty", .step = {1}, .run_id = 1}).value();
  REQUIRE(training.Setup(Fault("none")).has_value());
  REQUIRE(training.Train(1).has_value());
  return training;
}

// A session in a thread, which ends with its socket.
class SessionThread {
 public:
  SessionThread() {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets_) == 0);
    thread_ = std::thread([fd = sockets_[1]] { static_cast<void>(ServeSession(fd, kKinds, "kind")); });
  }
  ~SessionThread() {
    shutdown(sockets_[0], SHUT_RDWR);
    thread_.join();
    for (const int fd : sockets_) close(fd);
  }
  v1::TrainerReply Call(const v1::TrainerRequest& request) {
    REQUIRE(WriteFrame(sockets_[0], request.SerializeAsString()).has_value());
    v1::TrainerReply reply;
    REQUIRE(reply.ParseFromString(ReadFrame(sockets_[0]).value().value()));
    return reply;
  }
  // Trained one step, with that fault.
  void Begin(const std::string& fault) {
    v1::TrainerRequest init;
    init.mutable_init()->set_trainer("faulty");
    init.mutable_init()->mutable_step()->set_updates(1);
    init.mutable_init()->set_run_id(1);
    REQUIRE(Call(init).has_done());
    v1::TrainerRequest setup;
    (*setup.mutable_setup()->mutable_values())["fault"].set_text(fault);
    REQUIRE(Call(setup).has_done());
    REQUIRE(Train(1).has_train());
  }
  v1::TrainerReply Train(std::int64_t step) {
    v1::TrainerRequest request;
    request.mutable_train()->set_step(step);
    return Call(request);
  }
  v1::TrainerReply Evaluate() {
    v1::TrainerRequest request;
    request.mutable_evaluate();
    return Call(request);
  }

 private:
  int sockets_[2];
  std::thread thread_;
};

}  // namespace

TEST_CASE("an evaluation leaves the state as it was, whether it succeeds or its trainer fails", "[torch]") {
  Training undisturbed = Begun();
  REQUIRE(undisturbed.Train(2).has_value());
  const State expected = undisturbed.Save(2).value();
  for (const char* fault : {"none", "own"}) {
    INFO(fault);
    Training training = Begun();
    REQUIRE(training.Setup(Fault(fault)).has_value());
    const Outcome<Measured> evaluated = training.Evaluate();
    CHECK(evaluated.has_value() == (std::string(fault) == "none"));
    if (!evaluated) CHECK(evaluated.error().state_intact);
    REQUIRE(training.Train(2).has_value());
    CHECK((training.Save(2).value() == expected));
  }
}

TEST_CASE("a session goes on after an evaluation in which the trainer itself failed", "[torch]") {
  SessionThread session;
  session.Begin("own");
  const v1::TrainerReply reply = session.Evaluate();
  CHECK(reply.failure().kind() == v1::FAILURE_KIND_TRAINER);
  CHECK(reply.failure().message() == "failing as told");
  CHECK(reply.failure().state_intact());
  CHECK(session.Train(2).has_train());
}

TEST_CASE("after an evaluation in which memory or the library failed, Init comes first", "[torch]") {
  const std::string fault = GENERATE("memory", "library");
  CAPTURE(fault);
  SessionThread session;
  session.Begin(fault);
  const v1::TrainerReply reply = session.Evaluate();
  CHECK(reply.failure().kind() == (fault == "memory" ? v1::FAILURE_KIND_OUT_OF_MEMORY : v1::FAILURE_KIND_TRAINER));
  CHECK_FALSE(reply.failure().state_intact());
  CHECK(session.Train(2).failure().kind() == v1::FAILURE_KIND_REQUEST);
}

}  // namespace espalier::trainer
