// espalier-fake-worker --fd N: a worker without torch, for tests of whole processes. Its one trainer, "toy", trains a
// chain of digests over (step, values in force), so that every state and metric depends on exactly the values trained
// with, and on the protocol's order. Faults are hyper-parameters too: crash_at_step, nan_at_step, hang_at_step,
// fail_at_step, and lie_at_step: the state saved there is garbage.
#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/digest.h"
#include "worker/checkpoint/checkpoint_format.h"
#include "worker/protocol/encoding.h"
#include "worker/protocol/message_socket.h"

namespace espalier {
namespace {

using worker::Values;

std::string Text(const Values& values) {
  std::string text;
  for (const auto& [name, value] : values) text += name + "{" + Print(value) + "} ";
  return text;
}

// In [0, 1), from the digest of the text.
double Fraction(const std::string& text) {
  return static_cast<double>(std::hash<Digest128>{}(DigestOf(text)) >> 11) / 9007199254740992.0;
}

worker::Description Description() {
  const auto declare = [](const char* name, const Value& value, bool initial) {
    return HyperParameter{name, TypeOf(value), value, initial};
  };
  const Value zero = std::int64_t{0};
  Offer toy{.trainer = "toy",
            .code_digest = "toy-1",
            .data = {},
            .data_digest = "none",
            .evaluation_digest = "toy-evaluation-1",
            .schema = {.hyper_parameters = {declare("bs", std::int64_t{32}, false),
                                            declare("crash_at_step", zero, true), declare("fail_at_step", zero, true),
                                            declare("hang_at_step", zero, true), declare("lie_at_step", zero, true),
                                            declare("lr", 0.1, false), declare("nan_at_step", zero, true),
                                            declare("optimizer", std::string("sgd"), false),
                                            declare("seed", zero, true), declare("step_milliseconds", zero, true)}},
            .metrics = {"score"}};
  return {.protocol_version = 1,
          .device_kind = "toy-device",
          .offers = {std::move(toy)},
          .capabilities = {worker::capability::kProceed, worker::capability::kReload}};
}

// Of the initial ones, only the seed may change what is learned: faults and speed must not.
struct Toy {
  std::int64_t run = 0;
  std::string step_log;
  Values at_init;
  Values in_force;
  std::int64_t step = 0;
  std::string chain;

  std::int64_t Initial(const char* name) const {
    const auto it = at_init.find(name);
    return it == at_init.end() ? 0 : std::get<std::int64_t>(it->second);
  }
  // All that Save must keep; the values in force too, so that saving after a set-up that was too early shows, and the
  // learning rate at step 0, so that a wrong Init does.
  TrainingState State() const {
    return {{"step", WholeNumber(step)},
            {"chain", espalier::Text(chain)},
            {"in_force", espalier::Text(Text(in_force))},
            {"lr_at_init", espalier::Text(Print(at_init.at("lr")))}};
  }
};

class Session {
 public:
  explicit Session(int fd) : socket_(fd) {}
  ~Session() {
    for (std::thread& save : saves_) save.join();
  }

  void Serve() {
    while (true) {
      const auto message = socket_.Read();
      if (!message.has_value() || !message->has_value()) return;
      const auto request = worker::DecodeRequest(**message);
      if (!request.has_value()) return;
      std::optional<worker::ReplyKind> reply =
          std::visit([&](const auto& kind) { return Answer(kind, request->id); }, request->kind);
      if (!reply.has_value()) continue;
      if (const auto* failed = std::get_if<worker::Failure>(&*reply); failed != nullptr && !failed->state_intact) {
        toy_.reset();
      }
      Write({request->id, *std::move(reply)});
    }
  }

 private:
  using Reply = std::optional<worker::ReplyKind>;

  void Write(const worker::WorkerReply& reply) { static_cast<void>(socket_.Write(worker::Encode(reply))); }

  static worker::Failure Failure(worker::FailureKind kind, const std::string& message) {
    return {kind, message, false};
  }
  static worker::Failure TooEarly() { return Failure(worker::FailureKind::kRequest, "a request came before Init"); }

  Reply Answer(const worker::Describe&, std::int64_t) { return Description(); }

  Reply Answer(const worker::Init& init, std::int64_t) {
    if (init.trainer != "toy") return Failure(worker::FailureKind::kRequest, "no trainer " + init.trainer);
    toy_ = Toy{init.run.run.value, init.step_log, init.values, {}, 0, ""};
    toy_->chain = ToHex(DigestOf("seed " + std::to_string(toy_->Initial("seed"))));
    return worker::Done{};
  }

  Reply Answer(const worker::Proceed& proceed, std::int64_t) {
    if (!toy_.has_value()) return TooEarly();
    toy_->run = proceed.run.run.value;
    toy_->step_log = proceed.step_log;
    return worker::Done{};
  }

  Reply Answer(const worker::Setup& setup, std::int64_t) {
    if (!toy_.has_value()) return TooEarly();
    for (const auto& [name, value] : setup.values) toy_->in_force[name] = value;
    return worker::Done{};
  }

  Reply Answer(const worker::Train& train, std::int64_t) {
    if (!toy_.has_value()) return TooEarly();
    const std::int64_t to = train.step.value;
    if (to != toy_->step + 1) return Failure(worker::FailureKind::kRequest, "Train is out of order");
    const Seconds begin = MonotonicNow();
    std::fprintf(stderr, "trains with crash_at_step %d\n", static_cast<int>(toy_->Initial("crash_at_step")));
    std::this_thread::sleep_for(std::chrono::milliseconds(toy_->Initial("step_milliseconds")));
    if (to == toy_->Initial("crash_at_step")) {
      static constexpr char kLastWords[] = "garbage \0\xff\xfe\xc3 crashing as told\n";  // not UTF-8
      std::fwrite(kLastWords, 1, sizeof(kLastWords) - 1, stderr);
      std::abort();
    }
    if (to == toy_->Initial("hang_at_step")) pause();
    if (to == toy_->Initial("fail_at_step")) return Failure(worker::FailureKind::kTrainer, "failing as told");
    toy_->chain = ToHex(DigestOf(toy_->chain + std::to_string(toy_->step) + Text(toy_->in_force)));
    ++toy_->step;
    const Seconds took = MonotonicNow() - begin;
    std::ofstream(toy_->step_log, std::ios::app) << toy_->run << " " << toy_->step << " " << took.count() << std::endl;
    const double loss =
        to == toy_->Initial("nan_at_step") ? std::numeric_limits<double>::quiet_NaN() : Fraction("loss" + toy_->chain);
    return worker::Trained{{{"loss", loss}, {"samples", 1}}, took};
  }

  Reply Answer(const worker::Evaluate&, std::int64_t) {
    if (!toy_.has_value()) return TooEarly();
    return worker::Evaluated{{{"score", Fraction("score" + toy_->chain)}}, Seconds(0.001)};
  }

  // The state is copied here, and written beside training.
  Reply Answer(const worker::Save& save, std::int64_t id) {
    if (!toy_.has_value()) return TooEarly();
    const bool lies = toy_->step == toy_->Initial("lie_at_step");
    saves_.emplace_back([this, id, save, lies, state = toy_->State()] {
      const Seconds begin = MonotonicNow();
      const auto written = WriteCheckpointFile(save.path, save.identity, state);
      if (!written.has_value()) {
        worker::Failure failed = Failure(worker::FailureKind::kCheckpoint, written.error().message);
        failed.state_intact = true;
        return Write({id, std::move(failed)});
      }
      if (lies) std::ofstream(save.path, std::ios::trunc) << "21 bytes of garbage..";
      Write({id, worker::Saved{written->state_sha256, written->bytes, Seconds(0), MonotonicNow() - begin}});
    });
    return std::nullopt;
  }

  Reply Answer(const worker::Load& load, std::int64_t) {
    if (!toy_.has_value()) return TooEarly();
    const auto file = ReadCheckpointFile(load.path);
    if (!file.has_value()) return Failure(worker::FailureKind::kCheckpoint, file.error().message);
    const TrainingState& state = file->state;
    const TrainingState here = toy_->State();
    if (At(state, "in_force") != At(here, "in_force") || At(state, "lr_at_init") != At(here, "lr_at_init")) {
      return Failure(worker::FailureKind::kRequest, "Init or Setup before Load had other values");
    }
    toy_->step = ReadWholeNumber(state, "step");
    toy_->chain = At(state, "chain").bytes;
    return worker::Done{};
  }

  worker::MessageSocket socket_;
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
