#include "worker/check/driven_worker.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "worker/protocol/encoding.h"

namespace espalier::trainer_check {
namespace {

constexpr int kProtocolVersion = 1;
constexpr int kWordsOfADyingWorkerMilliseconds = 30'000;
constexpr char kPackageWords[] = "espalier:";

}  // namespace

Result<std::unique_ptr<DrivenWorker>> DrivenWorker::Start(const std::vector<std::string>& command,
                                                          const std::filesystem::path& log, const std::string& mark,
                                                          const worker::WorkerPlace& place,
                                                          std::shared_ptr<worker::WorkerTemplate> from,
                                                          const StopRequest& stop) {
  ESPALIER_ASSIGN(auto process, worker::WorkerProcess::Start(command, log, mark, place, std::move(from)));
  return std::unique_ptr<DrivenWorker>(new DrivenWorker(std::move(process), stop));
}

Result<worker::ReplyKind> DrivenWorker::Ask(worker::RequestKind request) {
  const worker::WorkerRequest asked{++last_id_, std::move(request)};
  const Result<void> sent = process_->channel().Send(worker::Encode(asked));
  if (!sent.has_value() && sent.error().code == ErrorCode::kUnavailable) return Died();
  if (!sent.has_value()) return tl::unexpected<Error>(sent.error());
  Result<worker::WorkerReply> reply = worker::WorkerReply{asked.id, worker::Heartbeat{}};
  while (reply.has_value() && reply->id == asked.id && std::holds_alternative<worker::Heartbeat>(reply->kind)) {
    ESPALIER_ASSIGN(const std::string message, NextMessage());
    reply = worker::DecodeReply(message);
  }
  if (reply.has_value() && reply->id == asked.id) return reply->kind;
  return MakeError(ErrorCode::kInternal, "the worker breaks the protocol: " +
                                             (reply.has_value() ? "it answers request " + std::to_string(reply->id) +
                                                                      " to request " + std::to_string(asked.id)
                                                                : reply.error().field + " " + reply.error().message));
}

Result<std::string> DrivenWorker::NextMessage() {
  worker::WorkerChannel& channel = process_->channel();
  while (received_.empty()) {
    if (channel.closed()) return Died();
    ESPALIER_RETURN_IF_ERROR(Wait(channel.socket(), channel.has_unsent() ? POLLIN | POLLOUT : POLLIN));
    static_cast<void>(channel.Flush());  // one that is closed is noticed as such
    received_ = channel.Receive();
    std::ranges::reverse(received_);
  }
  std::string message = std::move(received_.back());
  received_.pop_back();
  return message;
}

Result<void> DrivenWorker::Wait(int fd, short events) {
  for (;;) {
    pollfd waiting[] = {{.fd = fd, .events = events, .revents = 0},
                        {.fd = stop_.fd, .events = POLLIN, .revents = 0},
                        {.fd = process_->birth(), .events = POLLIN, .revents = 0}};
    if (poll(waiting, 3, -1) < 0 && errno != EINTR) {
      return MakeError(ErrorCode::kInternal, std::string("cannot wait for the worker: ") + std::strerror(errno));
    }
    if (waiting[1].revents != 0 && stop_.is_asked()) return MakeError(ErrorCode::kAborted, "stopped");
    if (waiting[2].revents != 0) process_->NoticeBirth();
    if (waiting[0].revents != 0) return {};
  }
}

tl::unexpected<Error> DrivenWorker::Died() {
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, process_->pid(), 0));
  pollfd waiting{.fd = pidfd, .events = POLLIN, .revents = 0};
  poll(&waiting, 1, kWordsOfADyingWorkerMilliseconds);
  if (pidfd >= 0) close(pidfd);
  if (process_->HasEnded()) return MakeError(ErrorCode::kUnavailable, "the worker died: " + process_->LastWords());
  return MakeError(ErrorCode::kUnavailable, "the worker closed its socket");
}

std::filesystem::path Workers::Log(int number) const { return folder_ / ("worker-" + std::to_string(number) + ".log"); }

worker::WorkerPlace Workers::PlaceOf(int number) const {
  return {.temporary = folder_ / ("worker-" + std::to_string(number))};
}

std::string Workers::MarkOf(const std::filesystem::path& log) const {
  return family_.empty() ? log.string() : family_ + "#" + log.string();
}

Result<void> Workers::StartSpare() {
  if (spare_ != nullptr) return {};
  ++started_;
  const auto python_worker = worker::AsPythonWorker(command_);
  if (started_ == 2 && python_worker.has_value()) {
    const std::filesystem::path log = folder_ / "template.log";
    auto started = worker::WorkerTemplate::Start(python_worker->python, {}, log, MarkOf(log));
    if (started.has_value()) template_ = *std::move(started);
  }
  ESPALIER_ASSIGN(
      spare_, DrivenWorker::Start(command_, Log(started_), MarkOf(Log(started_)), PlaceOf(started_), template_, stop_));
  return {};
}

Result<worker::Description> Workers::Describe() {
  ESPALIER_RETURN_IF_ERROR(StartSpare());
  ESPALIER_ASSIGN(const worker::ReplyKind reply, spare_->Ask(worker::Describe{worker::kCapabilities}));
  const auto* description = std::get_if<worker::Description>(&reply);
  if (const auto* failure = std::get_if<worker::Failure>(&reply)) {
    return MakeError(ErrorCode::kFailedPrecondition, "the worker cannot say what it is: " + failure->message);
  }
  if (description == nullptr || description->protocol_version != kProtocolVersion) {
    return MakeError(ErrorCode::kFailedPrecondition, "the worker speaks another version of the trainer protocol");
  }
  if (!description_.has_value()) description_ = *description;
  return *description;
}

Result<void> Workers::Next(bool more) {
  current_.reset();
  ESPALIER_ASSIGN(const worker::Description description, Describe());
  if (description != *description_) {
    return MakeError(ErrorCode::kFailedPrecondition,
                     "the worker describes itself in another way each time it is started: digests that change share "
                     "no training");
  }
  current_ = std::move(spare_);
  return more ? StartSpare() : Result<void>{};
}

bool Workers::Can(const std::string& capability) const {
  const worker::Capabilities& named = description_.value().capabilities;
  return std::ranges::find(named, capability) != named.end();
}

std::vector<std::string> Workers::Said() const {
  std::vector<std::string> said;
  for (int number = 1; number <= started_; ++number) {
    std::ifstream log(Log(number));
    for (std::string line; std::getline(log, line);) {
      if (line.starts_with(kPackageWords) && std::ranges::find(said, line) == said.end()) said.push_back(line);
    }
  }
  return said;
}

}  // namespace espalier::trainer_check
