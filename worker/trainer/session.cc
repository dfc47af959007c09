#include "worker/trainer/session.h"

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "espalier/v1/trainer.pb.h"
#include "worker/trainer/frame.h"
#include "worker/trainer/save_thread.h"
#include "worker/trainer/training.h"

namespace espalier::trainer {
namespace {

constexpr int kProtocolVersion = 1;

v1::Value ToProto(const HyperParameterValue& value) {
  v1::Value proto;
  if (const auto* boolean = std::get_if<bool>(&value)) proto.set_boolean(*boolean);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) proto.set_integer(*integer);
  if (const auto* floating = std::get_if<double>(&value)) proto.set_floating(*floating);
  if (const auto* text = std::get_if<std::string>(&value)) proto.set_text(*text);
  return proto;
}

v1::ValueType TypeOf(const v1::Value& value) {
  switch (value.kind_case()) {
    case v1::Value::kBoolean:
      return v1::VALUE_TYPE_BOOLEAN;
    case v1::Value::kInteger:
      return v1::VALUE_TYPE_INTEGER;
    case v1::Value::kFloating:
      return v1::VALUE_TYPE_FLOATING;
    case v1::Value::kText:
      return v1::VALUE_TYPE_TEXT;
    case v1::Value::KIND_NOT_SET:
      break;
  }
  return v1::VALUE_TYPE_UNSPECIFIED;
}

Outcome<HyperParameterValues> ToValues(const google::protobuf::Map<std::string, v1::Value>& values) {
  HyperParameterValues result;
  for (const auto& [name, value] : values) {
    switch (value.kind_case()) {
      case v1::Value::kBoolean:
        result.emplace(name, value.boolean());
        break;
      case v1::Value::kInteger:
        result.emplace(name, value.integer());
        break;
      case v1::Value::kFloating:
        result.emplace(name, value.floating());
        break;
      case v1::Value::kText:
        result.emplace(name, value.text());
        break;
      case v1::Value::KIND_NOT_SET:
        return MakeFailure(FailureKind::kRequest, name + ": the value is missing");
    }
  }
  return result;
}

Outcome<StepMeaning> ToStepMeaning(const v1::StepMeaning& step) {
  if (step.kind_case() == v1::StepMeaning::kEpoch && step.epoch()) return StepMeaning{};
  if (step.kind_case() == v1::StepMeaning::kUpdates && step.updates() >= 1) return StepMeaning{step.updates()};
  return MakeFailure(FailureKind::kRequest, "a step must be an epoch or at least one update");
}

v1::FailureKind ToProto(FailureKind kind) {
  switch (kind) {
    case FailureKind::kTrainer:
      return v1::FAILURE_KIND_TRAINER;
    case FailureKind::kOutOfMemory:
      return v1::FAILURE_KIND_OUT_OF_MEMORY;
    case FailureKind::kCheckpoint:
      return v1::FAILURE_KIND_CHECKPOINT;
    case FailureKind::kRequest:
      return v1::FAILURE_KIND_REQUEST;
  }
  return v1::FAILURE_KIND_UNSPECIFIED;
}

v1::TrainerReply ToReply(const Failure& failure) {
  v1::TrainerReply reply;
  reply.mutable_failure()->set_kind(ToProto(failure.kind));
  reply.mutable_failure()->set_message(CleanText(failure.message));  // a library may say anything
  reply.mutable_failure()->set_state_intact(failure.state_intact);
  return reply;
}

v1::TrainerReply ToReply(const std::vector<TrainerKind>& kinds, const std::string& device_kind) {
  v1::TrainerReply reply;
  v1::DescribeReply& describe = *reply.mutable_describe();
  describe.set_protocol_version(kProtocolVersion);
  describe.set_device_kind(device_kind);
  for (const TrainerKind& kind : kinds) {
    v1::TrainerDescription& trainer = *describe.add_trainers();
    trainer.set_name(kind.name);
    trainer.set_code_digest(kind.code_digest);
    trainer.set_data(kind.data);
    trainer.set_data_digest(kind.data_digest);
    trainer.set_evaluation_digest(kind.evaluation_digest);
    for (const DeclaredHyperParameter& declared : kind.hyper_parameters) {
      v1::HyperParameter& hyper_parameter = *trainer.add_hyper_parameters();
      hyper_parameter.set_name(declared.name);
      *hyper_parameter.mutable_default_value() = ToProto(declared.default_value);
      hyper_parameter.set_type(TypeOf(hyper_parameter.default_value()));
      hyper_parameter.set_initial(declared.initial);
    }
    trainer.set_takes_any(kind.takes_any);
    trainer.mutable_metrics()->Assign(kind.metrics.begin(), kind.metrics.end());
  }
  return reply;
}

template <class Message>
void Fill(Message& message, const Measured& measured) {
  for (const auto& [name, value] : measured.metrics) (*message.mutable_metrics())[CleanText(name)] = value;
  message.set_seconds(measured.seconds);
}

v1::TrainerReply Done() {
  v1::TrainerReply reply;
  reply.mutable_done();
  return reply;
}

// Replies of two threads, one at a time. Thread-safe.
class ReplyWriter {
 public:
  explicit ReplyWriter(int fd) : fd_(fd) {}

  // A peer that is gone is noticed by the next read.
  void Write(v1::TrainerReply reply, std::int64_t id) {
    reply.set_id(id);
    const std::string bytes = reply.SerializeAsString();
    const std::lock_guard lock(mutex_);
    static_cast<void>(WriteFrame(fd_, bytes));
  }

 private:
  const int fd_;
  std::mutex mutex_;
};

class Session {
 public:
  Session(int fd, const std::vector<TrainerKind>& kinds, const std::string& device_kind)
      : kinds_(kinds), device_kind_(device_kind), writer_(fd) {}

  void Handle(const v1::TrainerRequest& request) {
    Outcome<std::optional<v1::TrainerReply>> reply = Answer(request);
    if (!reply) {
      if (!reply.error().state_intact) training_.reset();
      reply = ToReply(reply.error());
    }
    if (reply->has_value()) writer_.Write(std::move(**reply), request.id());
  }

 private:
  // Nothing: the reply comes later.
  Outcome<std::optional<v1::TrainerReply>> Answer(const v1::TrainerRequest& request) {
    switch (request.kind_case()) {
      case v1::TrainerRequest::kDescribe:
        return ToReply(kinds_, device_kind_);
      case v1::TrainerRequest::kInit:
        return Init(request.init());
      case v1::TrainerRequest::kSetup:
      case v1::TrainerRequest::kTrain:
      case v1::TrainerRequest::kEvaluate:
      case v1::TrainerRequest::kSave:
      case v1::TrainerRequest::kLoad:
        if (!training_.has_value()) return MakeFailure(FailureKind::kRequest, "a request came before Init");
        return AnswerInTraining(request);
      case v1::TrainerRequest::kStop:
      case v1::TrainerRequest::KIND_NOT_SET:
        break;
    }
    return MakeFailure(FailureKind::kRequest, "the request is of no known kind");
  }

  Outcome<std::optional<v1::TrainerReply>> AnswerInTraining(const v1::TrainerRequest& request) {
    v1::TrainerReply reply;
    if (request.has_setup()) {
      const auto values = ToValues(request.setup().values());
      if (!values) return tl::unexpected(values.error());
      return training_->Setup(*values).map(Done);
    }
    if (request.has_train()) {
      return training_->Train(request.train().step()).map([&](const Measured& measured) {
        Fill(*reply.mutable_train(), measured);
        return std::optional(reply);
      });
    }
    if (request.has_evaluate()) {
      return training_->Evaluate().map([&](const Measured& measured) {
        Fill(*reply.mutable_evaluate(), measured);
        return std::optional(reply);
      });
    }
    if (request.has_save()) return Save(request);
    return training_->Load(request.load().path()).map(Done);
  }

  Outcome<std::optional<v1::TrainerReply>> Init(const v1::InitRequest& request) {
    training_.reset();
    const auto values = ToValues(request.values());
    if (!values) return tl::unexpected(values.error());
    const auto step = ToStepMeaning(request.step());
    if (!step) return tl::unexpected(step.error());
    auto training = Training::Begin(kinds_, {.trainer = request.trainer(),
                                             .data = request.data(),
                                             .step = *step,
                                             .initial_values = *values,
                                             .run_id = request.run_id(),
                                             .step_log = request.step_log()});
    if (!training) return tl::unexpected(training.error());
    training_ = std::move(*training);
    return Done();
  }

  Outcome<std::optional<v1::TrainerReply>> Save(const v1::TrainerRequest& request) {
    const Seconds begin = MonotonicNow();
    auto state = training_->Save(request.save().identity().step());
    if (!state) return tl::unexpected(state.error());
    // Written by this thread once the job is added, read by the other when the file is written.
    const auto blocking_seconds = std::make_shared<std::promise<double>>();
    save_thread_.Add({.state = std::move(*state),
                      .path = request.save().path(),
                      .make_head =
                          [identity = request.save().identity()](const std::string& state_sha256) {
                            v1::CheckpointHead head;
                            *head.mutable_identity() = identity;
                            head.set_state_sha256(state_sha256);
                            return head.SerializeAsString();
                          },
                      .done =
                          [this, id = request.id(), begin, blocking_seconds](const Outcome<Saved>& saved) {
                            if (!saved) return writer_.Write(ToReply(saved.error()), id);
                            v1::TrainerReply reply;
                            reply.mutable_save()->set_state_sha256(saved->state_sha256);
                            reply.mutable_save()->set_bytes(saved->byte_count);
                            reply.mutable_save()->set_blocking_seconds(blocking_seconds->get_future().get());
                            reply.mutable_save()->set_seconds((MonotonicNow() - begin).count());
                            writer_.Write(std::move(reply), id);
                          }});
    blocking_seconds->set_value((MonotonicNow() - begin).count());
    return std::nullopt;
  }

  const std::vector<TrainerKind>& kinds_;
  const std::string& device_kind_;
  ReplyWriter writer_;
  std::optional<Training> training_;
  SaveThread save_thread_;  // last: its jobs use the writer
};

}  // namespace

Result<void> ServeSession(int fd, const std::vector<TrainerKind>& kinds, const std::string& device_kind) {
  Session session(fd, kinds, device_kind);
  for (;;) {
    ESPALIER_ASSIGN(const std::optional<std::string> frame, ReadFrame(fd));
    if (!frame.has_value()) return {};
    v1::TrainerRequest request;
    if (!request.ParseFromString(*frame)) return MakeError(ErrorCode::kInvalidArgument, "a request cannot be parsed");
    if (request.has_stop()) return {};
    session.Handle(request);
  }
}

}  // namespace espalier::trainer
