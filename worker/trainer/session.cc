#include "worker/trainer/session.h"

#include <algorithm>
#include <cstdio>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "worker/protocol/encoding.h"
#include "worker/protocol/message_socket.h"
#include "worker/trainer/heartbeat.h"
#include "worker/trainer/save_thread.h"
#include "worker/trainer/spare_memory.h"
#include "worker/trainer/training.h"

namespace espalier::trainer {
namespace {

constexpr int kProtocolVersion = 1;

worker::ReplyKind ToReply(const Failure& failure) {
  // A library may say anything.
  return worker::Failure{failure.kind, CleanText(failure.message), failure.state_intact, failure.worker_unusable};
}

Offer ToOffer(const TrainerKind& kind) {
  Offer offer{.trainer = kind.name,
              .code_digest = kind.code_digest,
              .data = kind.data,
              .data_digest = kind.data_digest,
              .evaluation_digest = kind.evaluation_digest,
              .schema = {.takes_any = kind.takes_any},
              .metrics = kind.metrics};
  for (const DeclaredHyperParameter& declared : kind.hyper_parameters) {
    offer.schema.hyper_parameters.push_back(
        {declared.name, TypeOf(declared.default_value), declared.default_value, declared.initial});
  }
  return offer;
}

worker::ReplyKind ToReply(const std::vector<TrainerKind>& kinds, const std::string& device_kind) {
  worker::Description description{kProtocolVersion, device_kind, {}, {worker::capability::kProceed}};
  if (std::ranges::all_of(kinds, &TrainerKind::reloads)) {
    description.capabilities.push_back(worker::capability::kReload);
  }
  for (const TrainerKind& kind : kinds) description.offers.push_back(ToOffer(kind));
  return description;
}

Metrics Cleaned(const Metrics& metrics) {
  Metrics cleaned;
  for (const auto& [name, value] : metrics) cleaned[CleanText(name)] = value;
  return cleaned;
}

class Session {
 public:
  Session(int fd, const std::vector<TrainerKind>& kinds, const std::string& device_kind)
      : kinds_(kinds), device_kind_(device_kind), socket_(fd) {}

  // Until the peer closes the socket. Error: it is broken, or what came is no message.
  Result<void> Serve() {
    for (;;) {
      ESPALIER_ASSIGN(const std::optional<std::string> message, socket_.Read());
      if (!message.has_value()) return {};
      const Result<worker::WorkerRequest> request = worker::DecodeRequest(*message);
      if (request.has_value()) {
        Handle(*request);
        continue;
      }
      const std::int64_t id = worker::RequestId(*message);
      if (id == 0) return tl::unexpected<Error>(request.error());
      training_.reset();
      const Error& wrong = request.error();
      const std::string field = wrong.field.empty() ? "" : wrong.field + ": ";
      Write({id, ToReply(Failure{FailureKind::kRequest, field + wrong.message})});
    }
  }

 private:
  using Answered = Outcome<std::optional<worker::ReplyKind>>;  // nothing: the reply comes later

  void Handle(const worker::WorkerRequest& request) {
    const HeartbeatListener listener([&] {
      if (hears_heartbeats_) Write({request.id, worker::Heartbeat{}});
    });
    Answered reply = std::visit([&](const auto& kind) { return Answer(kind, request.id); }, request.kind);
    if (!reply) {
      if (!reply.error().state_intact) training_.reset();
      reply = ToReply(reply.error());
    }
    // What was printed goes with the step on the way to which it was.
    std::cout.flush();
    std::fflush(stdout);
    if (reply->has_value()) Write({request.id, std::move(**reply)});
  }

  // A peer that is gone is noticed by the next read.
  void Write(const worker::WorkerReply& reply) { static_cast<void>(socket_.Write(worker::Encode(reply))); }

  static Answered Done(const Outcome<void>& done) {
    if (!done) return tl::unexpected(done.error());
    return worker::Done{};
  }

  Outcome<Training*> Begun() {
    if (training_.has_value()) return &*training_;
    return MakeFailure(FailureKind::kRequest, "a request came before Init");
  }

  Answered Answer(const worker::Describe& describe, std::int64_t) {
    hears_heartbeats_ =
        std::ranges::find(describe.capabilities, worker::capability::kHeartbeat) != describe.capabilities.end();
    return ToReply(kinds_, device_kind_);
  }

  Answered Answer(const worker::Init& init, std::int64_t) {
    training_.reset();
    ForgetSpareMemory();
    auto training = Training::Begin(kinds_, {.trainer = init.trainer,
                                             .data = init.data,
                                             .step = init.step,
                                             .values = init.values,
                                             .run_id = init.run.run.value,
                                             .step_log = init.step_log});
    if (!training) return tl::unexpected(training.error());
    training_ = std::move(*training);
    return worker::Done{};
  }

  Answered Answer(const worker::Proceed& proceed, std::int64_t) {
    return Begun().and_then(
        [&](Training* training) { return Done(training->Proceed(proceed.run.run.value, proceed.step_log)); });
  }

  Answered Answer(const worker::Setup& setup, std::int64_t) {
    return Begun().and_then([&](Training* training) { return Done(training->Setup(setup.values)); });
  }

  Answered Answer(const worker::Train& train, std::int64_t) {
    return Begun().and_then([&](Training* training) -> Answered {
      const Outcome<Measured> measured = training->Train(train.step.value);
      if (!measured) return tl::unexpected(measured.error());
      return worker::Trained{Cleaned(measured->metrics), Seconds(measured->seconds), measured->peak_bytes};
    });
  }

  Answered Answer(const worker::Evaluate&, std::int64_t) {
    return Begun().and_then([&](Training* training) -> Answered {
      const Outcome<Measured> measured = training->Evaluate();
      if (!measured) return tl::unexpected(measured.error());
      return worker::Evaluated{Cleaned(measured->metrics), Seconds(measured->seconds)};
    });
  }

  Answered Answer(const worker::Load& load, std::int64_t) {
    return Begun().and_then([&](Training* training) { return Done(training->Load(load.path, load.of_other_code)); });
  }

  Answered Answer(const worker::Save& save, std::int64_t id) {
    return Begun().and_then([&](Training* training) { return Save(*training, save, id); });
  }

  Answered Save(Training& training, const worker::Save& save, std::int64_t id) {
    const Seconds begin = MonotonicNow();
    save_thread_.AwaitRoom();
    auto state = training.Save(save.identity.point.step.value);
    if (!state) return tl::unexpected(state.error());
    // Written by this thread once the job is added, read by the other when the file is written.
    const auto blocking_time = std::make_shared<std::promise<Seconds>>();
    save_thread_.Add({.state = std::move(*state),
                      .path = save.path,
                      .identity = save.identity,
                      .done = [this, id, begin, blocking_time](const Outcome<WrittenCheckpoint>& written) {
                        if (!written) return Write({id, ToReply(written.error())});
                        Write({id, worker::Saved{written->state_sha256, written->bytes,
                                                 blocking_time->get_future().get(), MonotonicNow() - begin}});
                      }});
    blocking_time->set_value(MonotonicNow() - begin);
    return std::nullopt;
  }

  const std::vector<TrainerKind>& kinds_;
  const std::string& device_kind_;
  worker::MessageSocket socket_;
  bool hears_heartbeats_ = false;  // the node manager
  std::optional<Training> training_;
  SaveThread save_thread_;  // last: its jobs use the socket
};

}  // namespace

Result<void> ServeSession(int fd, const std::vector<TrainerKind>& kinds, const std::string& device_kind) {
  return Session(fd, kinds, device_kind).Serve();
}

}  // namespace espalier::trainer
