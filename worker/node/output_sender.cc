#include "worker/node/output_sender.h"

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <mutex>
#include <type_traits>
#include <utility>

#include "base/log.h"
#include "base/token.h"
#include "espalier/v1/node_manager.grpc.pb.h"
#include "proto/convert_node_protocol.h"
#include "worker/node/work_threads.h"

namespace espalier::node {
namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr std::chrono::seconds kPause{5};

std::string Author(const v1::PutOutputRequest& request) { return "run " + std::to_string(request.run().run_id()); }
std::string Author(const v1::PutServerLogRequest&) { return "the node manager"; }

}  // namespace

struct OutputSender::Parts {
  Parts(const std::shared_ptr<grpc::Channel>& master, std::string shown_token, LoopQueue& its_queue)
      : token(std::move(shown_token)), queue(its_queue), stub(v1::NodeManagerService::NewStub(master)) {}

  grpc::Status Put(grpc::ClientContext* context, const v1::PutOutputRequest& request) const {
    v1::PutOutputResponse response;
    return stub->PutOutput(context, request, &response);
  }
  grpc::Status Put(grpc::ClientContext* context, const v1::PutServerLogRequest& request) const {
    v1::PutServerLogResponse response;
    return stub->PutServerLog(context, request, &response);
  }

  // On the thread beside.
  template <class Request>
  void SendUntilTaken(const Request& request) {
    while (true) {
      grpc::ClientContext context;
      {
        const std::lock_guard lock(mutex);
        if (ending) return;
        under_way = &context;
      }
      if (!token.empty()) context.AddMetadata(std::string(kTokenMetadata), std::string(kTokenScheme) + token);
      context.set_deadline(std::chrono::system_clock::now() + kPatience);
      const grpc::Status status = Put(&context, request);
      std::unique_lock lock(mutex);
      under_way = nullptr;
      if (status.ok()) return;
      const bool is_refused = status.error_code() == grpc::StatusCode::NOT_FOUND ||
                              status.error_code() == grpc::StatusCode::INVALID_ARGUMENT ||
                              status.error_code() == grpc::StatusCode::UNIMPLEMENTED;
      if (is_refused) {
        // Of the log it is said once: what is said is a part of the log that is sent next.
        if (std::is_same_v<Request, v1::PutServerLogRequest> && std::exchange(is_log_refused, true)) return;
        lock.unlock();
        return Log(LogLevel::kWarning, "the master does not take what was printed",
                   {{"by", Author(request)}, {"reason", status.error_message()}});
      }
      if (changed.wait_for(lock, kPause, [this] { return ending; })) return;
    }
  }

  // On the event loop's thread.
  template <class Request>
  void SendBeside(Request request) {
    is_sending = true;
    thread.Do([this, request = std::move(request)] {
      SendUntilTaken(request);
      queue.Post([this] { is_sending = false; });
    });
  }

  const std::string token;
  LoopQueue& queue;
  const std::unique_ptr<v1::NodeManagerService::Stub> stub;
  bool is_sending = false;  // of the event loop
  std::mutex mutex;
  std::condition_variable changed;
  bool ending = false;
  grpc::ClientContext* under_way = nullptr;
  bool is_log_refused = false;  // and that was said
  WorkThreads thread{1};        // last, so that it ends first
};

OutputSender::OutputSender(const std::shared_ptr<grpc::Channel>& master, std::string token, LoopQueue& queue)
    : parts_(std::make_unique<Parts>(master, std::move(token), queue)) {}

OutputSender::~OutputSender() {
  {
    const std::lock_guard lock(parts_->mutex);
    parts_->ending = true;
    if (parts_->under_way != nullptr) parts_->under_way->TryCancel();
  }
  parts_->changed.notify_all();
}

bool OutputSender::is_sending() const { return parts_->is_sending; }

void OutputSender::Send(const RunOutput& output) { parts_->SendBeside(ToProto(output)); }

void OutputSender::Send(const ServerLogPart& part) { parts_->SendBeside(ToProto(part)); }

}  // namespace espalier::node
