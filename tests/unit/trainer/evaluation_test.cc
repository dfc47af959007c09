// What a failed evaluation leaves of a training.
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "tests/unit/trainer/faulty_trainer.h"
#include "worker/protocol/encoding.h"
#include "worker/protocol/message_socket.h"
#include "worker/trainer/session.h"
#include "worker/trainer/training.h"

namespace espalier::trainer {
namespace {

const std::vector<TrainerKind> kKinds{test::FaultyTrainer()};

HyperParameterValues Fault(const std::string& fault) { return {{"fault", fault}}; }

Training Begun() {
  Training training =
      Training::Begin(kKinds, {.trainer = "faulty", .step = {1}, .values = Fault("none"), .run_id = 1}).value();
  REQUIRE(training.Setup(Fault("none")).has_value());
  REQUIRE(training.Train(1).has_value());
  return training;
}

template <class Kind>
bool Is(const worker::ReplyKind& reply) {
  return std::holds_alternative<Kind>(reply);
}

// A session in a thread, which ends with its socket.
class SessionThread {
 public:
  SessionThread() {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets_) == 0);
    socket_.emplace(sockets_[0]);
    thread_ = std::thread([fd = sockets_[1]] { static_cast<void>(ServeSession(fd, kKinds, "kind")); });
  }
  ~SessionThread() {
    shutdown(sockets_[0], SHUT_RDWR);
    thread_.join();
    for (const int fd : sockets_) close(fd);
  }
  worker::ReplyKind Call(const worker::RequestKind& request) {
    REQUIRE(socket_->Write(worker::Encode({1, request})).has_value());
    return worker::DecodeReply(socket_->Read().value().value()).value().kind;
  }
  // Trained one step, with that fault.
  void Begin(const std::string& fault) {
    REQUIRE(Is<worker::Done>(Call(worker::Init{{{}, RunId{1}}, "faulty", "", {1}, Fault("none"), ""})));
    REQUIRE(Is<worker::Done>(Call(worker::Setup{Fault(fault)})));
    REQUIRE(Is<worker::Trained>(Train(1)));
  }
  worker::ReplyKind Train(std::int64_t step) { return Call(worker::Train{Step{step}}); }
  worker::Failure Evaluate() { return std::get<worker::Failure>(Call(worker::Evaluate{})); }

 private:
  int sockets_[2];
  std::optional<worker::MessageSocket> socket_;
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
  const worker::Failure failure = session.Evaluate();
  CHECK(failure.kind == FailureKind::kTrainer);
  CHECK(failure.message == "failing as told");
  CHECK(failure.state_intact);
  CHECK(Is<worker::Trained>(session.Train(2)));
}

TEST_CASE("after an evaluation in which memory or the library failed, Init comes first", "[torch]") {
  const std::string fault = GENERATE("memory", "library");
  CAPTURE(fault);
  SessionThread session;
  session.Begin(fault);
  const worker::Failure failure = session.Evaluate();
  CHECK(failure.kind == (fault == "memory" ? FailureKind::kOutOfMemory : FailureKind::kTrainer));
  CHECK_FALSE(failure.state_intact);
  CHECK_FALSE(failure.worker_unusable);
  CHECK(std::get<worker::Failure>(session.Train(2)).kind == FailureKind::kRequest);
}

TEST_CASE("a device that has failed makes the worker unusable, as it says", "[torch]") {
  SessionThread session;
  session.Begin("device");
  const worker::Failure failure = session.Evaluate();
  CHECK(failure.worker_unusable);
  CHECK_FALSE(failure.state_intact);
  CHECK(failure.message.find("illegal memory access") != std::string::npos);
}

}  // namespace espalier::trainer
