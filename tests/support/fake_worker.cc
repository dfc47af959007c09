// espalier-fake-worker --fd N: a worker without torch, for tests of whole processes. Its one trainer, "toy", trains a
// chain of digests over (step, values in force), so that every state and metric depends on exactly the values trained
// with, and on the protocol's order. Faults are hyper-parameters too: crash_at_step, nan_at_step, hang_at_step,
// fail_at_step.
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/digest.h"
#include "espalier/v1/trainer.pb.h"
#include "worker/checkpoint/checkpoint_format.h"

namespace espalier {
namespace {

using Values = std::map<std::string, v1::Value>;

bool ReadExactly(int fd, char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t got = recv(fd, bytes, count, 0);
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

std::optional<std::string> ReadFrame(int fd) {
  unsigned char length[4];
  if (!ReadExactly(fd, reinterpret_cast<char*>(length), sizeof(length))) return std::nullopt;
  std::string bytes(length[0] | length[1] << 8 | length[2] << 16 | static_cast<std::size_t>(length[3]) << 24, '\0');
  if (!ReadExactly(fd, bytes.data(), bytes.size())) return std::nullopt;
  return bytes;
}

// Replies of several threads, one at a time.
class ReplyWriter {
 public:
  explicit ReplyWriter(int fd) : fd_(fd) {}

  void Write(std::int64_t id, v1::TrainerReply reply) {
    reply.set_id(id);
    const std::string bytes = reply.SerializeAsString();
    std::string frame;
    for (std::size_t i = 0; i < 4; ++i) frame += static_cast<char>(bytes.size() >> (8 * i) & 0xff);
    frame += bytes;
    const std::lock_guard lock(mutex_);
    static_cast<void>(send(fd_, frame.data(), frame.size(), MSG_NOSIGNAL));
  }

 private:
  const int fd_;
  std::mutex mutex_;
};

std::string Text(const Values& values) {
  std::string text;
  for (const auto& [name, value] : values) text += name + "{" + value.ShortDebugString() + "} ";
  return text;
}

// In [0, 1), from the digest of the text.
double Fraction(const std::string& text) {
  return static_cast<double>(std::hash<Digest128>{}(DigestOf(text)) >> 11) / 9007199254740992.0;
}

v1::HyperParameter Declare(const char* name, const v1::Value& value, v1::ValueType type, bool initial) {
  v1::HyperParameter declared;
  declared.set_name(name);
  declared.set_type(type);
  *declared.mutable_default_value() = value;
  declared.set_initial(initial);
  return declared;
}

v1::HyperParameter DeclareInteger(const char* name, std::int64_t default_value, bool initial) {
  v1::Value value;
  value.set_integer(default_value);
  return Declare(name, value, v1::VALUE_TYPE_INTEGER, initial);
}

v1::DescribeReply Description() {
  v1::DescribeReply reply;
  reply.set_protocol_version(1);
  reply.set_device_kind("toy-device");
  v1::TrainerDescription& toy = *reply.add_trainers();
  toy.set_name("toy");
  toy.set_code_digest("toy-1");
  toy.set_data_digest("none");
  toy.set_evaluation_digest("toy-evaluation-1");
  toy.add_metrics("score");
  v1::Value lr;
  lr.set_floating(0.1);
  v1::Value optimizer;
  optimizer.set_text("sgd");
  *toy.add_hyper_parameters() = DeclareInteger("bs", 32, false);
  *toy.add_hyper_parameters() = DeclareInteger("crash_at_step", 0, true);
  *toy.add_hyper_parameters() = DeclareInteger("fail_at_step", 0, true);
  *toy.add_hyper_parameters() = DeclareInteger("hang_at_step", 0, true);
  *toy.add_hyper_parameters() = Declare("lr", lr, v1::VALUE_TYPE_FLOATING, false);
  *toy.add_hyper_parameters() = DeclareInteger("nan_at_step", 0, true);
  *toy.add_hyper_parameters() = Declare("optimizer", optimizer, v1::VALUE_TYPE_TEXT, false);
  *toy.add_hyper_parameters() = DeclareInteger("seed", 0, true);
  *toy.add_hyper_parameters() = DeclareInteger("step_milliseconds", 0, true);
  return reply;
}

// Of the initial ones, only the seed may change what is learned: faults and speed must not.
struct Toy {
  std::int64_t run = 0;
  std::string step_log;
  Values initial;
  Values in_force;
  std::int64_t step = 0;
  std::string chain;

  std::int64_t Initial(const char* name) const {
    const auto it = initial.find(name);
    return it == initial.end() ? 0 : it->second.integer();
  }
  // All that Save must keep; the values in force too, so that saving after a set-up that was too early shows.
  std::string State() const { return std::to_string(step) + "\n" + chain + "\n" + Text(in_force) + "\n"; }
};

class Session {
 public:
  explicit Session(int fd) : fd_(fd), writer_(fd) {}
  ~Session() {
    for (std::thread& save : saves_) save.join();
  }

  void Serve() {
    while (const std::optional<std::string> frame = ReadFrame(fd_)) {
      v1::TrainerRequest request;
      if (!request.ParseFromString(*frame) || request.has_stop()) return;
      v1::TrainerReply reply = Answer(request);
      if (reply.has_failure() && !reply.failure().state_intact()) toy_.reset();
      if (reply.kind_case() != v1::TrainerReply::KIND_NOT_SET) writer_.Write(request.id(), std::move(reply));
    }
  }

 private:
  v1::TrainerReply Answer(const v1::TrainerRequest& request) {
    v1::TrainerReply reply;
    if (request.has_describe()) *reply.mutable_describe() = Description();
    if (request.has_init()) return Init(request.init());
    if (request.has_describe()) return reply;
    if (!toy_.has_value()) return Failure(v1::FAILURE_KIND_REQUEST, "a request came before Init");
    if (request.has_setup()) {
      for (const auto& [name, value] : request.setup().values()) toy_->in_force[name] = value;
      reply.mutable_done();
    }
    if (request.has_train()) return Train(request.train());
    if (request.has_evaluate()) {
      (*reply.mutable_evaluate()->mutable_metrics())["score"] = Fraction("score" + toy_->chain);
      reply.mutable_evaluate()->set_seconds(0.001);
    }
    if (request.has_save()) Save(request.id(), request.save());
    if (request.has_load()) return Load(request.load());
    return reply;
  }

  static v1::TrainerReply Failure(v1::FailureKind kind, const std::string& message) {
    v1::TrainerReply reply;
    reply.mutable_failure()->set_kind(kind);
    reply.mutable_failure()->set_message(message);
    return reply;
  }

  v1::TrainerReply Init(const v1::InitRequest& init) {
    if (init.trainer() != "toy") return Failure(v1::FAILURE_KIND_REQUEST, "no trainer " + init.trainer());
    toy_ = Toy{init.run_id(), init.step_log(), {init.values().begin(), init.values().end()}, {}, 0, ""};
    toy_->chain = ToHex(DigestOf("seed " + std::to_string(toy_->Initial("seed"))));
    v1::TrainerReply reply;
    reply.mutable_done();
    return reply;
  }

  v1::TrainerReply Train(const v1::TrainRequest& train) {
    if (train.step() != toy_->step + 1) return Failure(v1::FAILURE_KIND_REQUEST, "Train is out of order");
    const Seconds begin = MonotonicNow();
    std::this_thread::sleep_for(std::chrono::milliseconds(toy_->Initial("step_milliseconds")));
    if (train.step() == toy_->Initial("crash_at_step")) {
      static constexpr char kLastWords[] = "garbage \0\xff\xfe\xc3 crashing as told\n";  // not UTF-8
      std::fwrite(kLastWords, 1, sizeof(kLastWords) - 1, stderr);
      std::abort();
    }
    if (train.step() == toy_->Initial("hang_at_step")) pause();
    if (train.step() == toy_->Initial("fail_at_step")) return Failure(v1::FAILURE_KIND_TRAINER, "failing as told");
    toy_->chain = ToHex(DigestOf(toy_->chain + std::to_string(toy_->step) + Text(toy_->in_force)));
    ++toy_->step;
    const double seconds = (MonotonicNow() - begin).count();
    std::ofstream(toy_->step_log, std::ios::app) << toy_->run << " " << toy_->step << " " << seconds << std::endl;
    v1::TrainerReply reply;
    auto& metrics = *reply.mutable_train()->mutable_metrics();
    metrics["loss"] = train.step() == toy_->Initial("nan_at_step") ? std::numeric_limits<double>::quiet_NaN()
                                                                   : Fraction("loss" + toy_->chain);
    metrics["samples"] = 1;
    reply.mutable_train()->set_seconds(seconds);
    return reply;
  }

  // The state is copied here, and written beside training.
  void Save(std::int64_t id, const v1::SaveRequest& save) {
    saves_.emplace_back([this, id, save, state = toy_->State()] {
      const Seconds begin = MonotonicNow();
      v1::CheckpointHead head;
      *head.mutable_identity() = save.identity();
      head.set_state_sha256(Sha256Hex(state));
      const auto written = WriteCheckpointFile(save.path(), head.SerializeAsString(), state);
      if (!written.has_value()) {
        v1::TrainerReply failed = Failure(v1::FAILURE_KIND_CHECKPOINT, written.error().message);
        failed.mutable_failure()->set_state_intact(true);
        return writer_.Write(id, std::move(failed));
      }
      v1::TrainerReply reply;
      reply.mutable_save()->set_state_sha256(head.state_sha256());
      reply.mutable_save()->set_bytes(static_cast<std::int64_t>(std::filesystem::file_size(save.path())));
      reply.mutable_save()->set_seconds((MonotonicNow() - begin).count());
      writer_.Write(id, std::move(reply));
    });
  }

  v1::TrainerReply Load(const v1::LoadRequest& load) {
    const auto file = ReadCheckpointFile(load.path());
    if (!file.has_value()) return Failure(v1::FAILURE_KIND_CHECKPOINT, file.error().message);
    std::istringstream lines(file->payload);
    std::string step;
    std::string in_force;
    std::getline(lines, step);
    std::getline(lines, toy_->chain);
    std::getline(lines, in_force);
    toy_->step = std::stoll(step);
    if (in_force != Text(toy_->in_force))
      return Failure(v1::FAILURE_KIND_REQUEST, "Setup before Load had other values");
    v1::TrainerReply reply;
    reply.mutable_done();
    return reply;
  }

  const int fd_;
  ReplyWriter writer_;
  std::optional<Toy> toy_;
  std::vector<std::thread> saves_;
};

}  // namespace
}  // namespace espalier

int main(int argument_count, char** arguments) {
  int fd = -1;
  const std::string_view text = argument_count == 3 ? arguments[2] : "";
  if (std::from_chars(text.data(), text.data() + text.size(), fd).ptr != text.data() + text.size() || fd < 0) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  espalier::Session(fd).Serve();
}
