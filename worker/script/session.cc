#include "worker/script/session.h"

#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <future>
#include <iostream>
#include <optional>

#include "base/clock.h"
#include "base/text.h"
#include "worker/protocol/encoding.h"
#include "worker/protocol/message_socket.h"
#include "worker/protocol/step_log.h"

namespace espalier::script {
namespace {

constexpr int kProtocolVersion = 1;
constexpr Seconds kHeartbeatPeriod{1};

worker::FailureKind KindOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return worker::FailureKind::kRequest;
    case ErrorCode::kNotFound:
    case ErrorCode::kUnavailable:
      return worker::FailureKind::kCheckpoint;
    default:
      return worker::FailureKind::kTrainer;
  }
}

worker::Failure FailureOf(const Error& error, bool state_intact) {
  const std::string field = error.field.empty() ? "" : error.field + ": ";
  return {KindOf(error.code), CleanText(field + error.message), state_intact};
}

class Session {
 public:
  Session(int fd, const Training::Program& program, const std::string& device_kind)
      : program_(program), device_kind_(device_kind), socket_(fd) {}

  Result<void> Serve() {
    for (;;) {
      ESPALIER_ASSIGN(const std::optional<std::string> message, socket_.Read());
      if (!message.has_value()) return {};
      const Result<worker::WorkerRequest> request = worker::DecodeRequest(*message);
      const std::int64_t id = request.has_value() ? request->id : worker::RequestId(*message);
      if (!request.has_value() && id == 0) return tl::unexpected<Error>(request.error());
      if (request.has_value()) {
        Handle(*request);
      } else {
        training_.reset();
        Write({id, FailureOf(request.error(), false)});
      }
    }
  }

 private:
  using Answered = Result<std::optional<worker::ReplyKind>>;  // nothing: the reply comes later

  void Handle(const worker::WorkerRequest& request) {
    Answered reply = std::visit([&](const auto& kind) { return Answer(kind, request.id); }, request.kind);
    if (!reply.has_value()) {
      const bool is_kept =
          std::holds_alternative<worker::Evaluate>(request.kind) || std::holds_alternative<worker::Save>(request.kind);
      if (training_.has_value()) DieAs(*training_, reply.error().message);
      const bool state_intact = is_kept && training_.has_value();
      if (!state_intact) training_.reset();
      reply = FailureOf(reply.error(), state_intact);
    }
    if (reply->has_value()) Write({request.id, std::move(**reply)});
  }

  // Who watches this process tells kills, for want of memory and other, from faults of the program's own.
  void DieAs(const Training& training, const std::string& words) {
    if (training.killed_by() == 0) return;
    if (saving_.valid()) saving_.wait();
    std::cerr << CleanText(words) << std::endl;
    prctl(PR_SET_DUMPABLE, 0);
    signal(training.killed_by(), SIG_DFL);
    raise(training.killed_by());
  }

  // A peer that is gone is noticed by the next read.
  void Write(const worker::WorkerReply& reply) { static_cast<void>(socket_.Write(worker::Encode(reply))); }

  Training::Hear Listener(std::int64_t id) {
    return [this, id, said_at = MonotonicNow()]() mutable {
      if (!hears_heartbeats_ || MonotonicNow() - said_at < kHeartbeatPeriod) return;
      said_at = MonotonicNow();
      Write({id, worker::Heartbeat{}});
    };
  }

  Result<Training*> Begun() {
    if (training_.has_value()) return &*training_;
    return MakeError(ErrorCode::kInvalidArgument, "a request came before Init");
  }

  Answered Answer(const worker::Describe& describe, std::int64_t) {
    hears_heartbeats_ =
        std::ranges::find(describe.capabilities, worker::capability::kHeartbeat) != describe.capabilities.end();
    return worker::Description{
        kProtocolVersion,
        device_kind_,
        {program_.offer},
        {worker::capability::kProceed, worker::capability::kReload, worker::capability::kStretches}};
  }

  Answered Answer(const worker::Init& init, std::int64_t) {
    training_.reset();
    ESPALIER_ASSIGN(Training training, Training::Begin(program_, init));
    ESPALIER_RETURN_IF_ERROR(step_log_.Begin(init.step_log, init.run.run));
    training_ = std::move(training);
    return worker::Done{};
  }

  Answered Answer(const worker::Proceed& proceed, std::int64_t) {
    ESPALIER_RETURN_IF_ERROR(Begun());
    ESPALIER_RETURN_IF_ERROR(step_log_.Begin(proceed.step_log, proceed.run.run));
    return worker::Done{};
  }

  Answered Answer(const worker::Setup& setup, std::int64_t) {
    ESPALIER_ASSIGN(Training* const training, Begun());
    ESPALIER_RETURN_IF_ERROR(training->Setup(setup.values));
    return worker::Done{};
  }

  Answered Answer(const worker::Train& train, std::int64_t id) {
    ESPALIER_ASSIGN(Training* const training, Begun());
    ESPALIER_ASSIGN(worker::Trained trained, training->Train(train, Listener(id)));
    if (const auto said = step_log_.Append(train.step, trained.time); !said) {
      std::cerr << "espalier: " << said.error().message << std::endl;
    }
    return trained;
  }

  Answered Answer(const worker::Evaluate&, std::int64_t id) {
    ESPALIER_ASSIGN(Training* const training, Begun());
    ESPALIER_ASSIGN(worker::Evaluated evaluated, training->Evaluate(Listener(id)));
    return evaluated;
  }

  Answered Answer(const worker::Load& load, std::int64_t) {
    ESPALIER_ASSIGN(Training* const training, Begun());
    ESPALIER_RETURN_IF_ERROR(training->Load(load.path, load.of_other_code));
    return worker::Done{};
  }

  // The program's file stays as it is while it is read, by another thread, and training goes on.
  Answered Answer(const worker::Save& save, std::int64_t id) {
    ESPALIER_ASSIGN(Training* const training, Begun());
    ESPALIER_ASSIGN(auto state, training->State(save.identity.point.step));
    const Seconds begin = MonotonicNow();
    if (saving_.valid()) saving_.wait();
    const Seconds blocked = MonotonicNow() - begin;
    saving_ = std::async(std::launch::async, [this, id, save, begin, blocked, state = std::move(state),
                                              origin = training->origin()] {
      const bool is_safetensors = program_.declaration.writes_safetensors;
      const auto written = WriteState(save.path, save.identity, state->path(), is_safetensors, origin);
      if (!written.has_value()) {
        return Write({id, worker::Failure{worker::FailureKind::kCheckpoint, CleanText(written.error().message), true}});
      }
      Write({id, worker::Saved{written->state_sha256, written->bytes, blocked, MonotonicNow() - begin}});
    });
    return std::nullopt;
  }

  const Training::Program& program_;
  const std::string& device_kind_;
  worker::MessageSocket socket_;
  bool hears_heartbeats_ = false;  // the node manager
  worker::StepLog step_log_;
  std::optional<Training> training_;
  std::future<void> saving_;  // last: it uses the socket
};

}  // namespace

Result<void> ServeSession(int fd, const Training::Program& program, const std::string& device_kind) {
  return Session(fd, program, device_kind).Serve();
}

}  // namespace espalier::script
