#include "worker/node/output_sender.h"

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <mutex>

#include "base/log.h"
#include "base/token.h"
#include "espalier/v1/node_manager.grpc.pb.h"
#include "proto/channel.h"
#include "proto/convert_node_protocol.h"
#include "worker/node/work_threads.h"

namespace espalier::node {
namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr std::chrono::seconds kPause{5};

}  // namespace

struct OutputSender::Parts {
  Parts(const std::string& master_address, std::string shown_token, LoopQueue& its_queue)
      : token(std::move(shown_token)),
        queue(its_queue),
        stub(v1::NodeManagerService::NewStub(OpenChannel(master_address))) {}

  // On the thread beside.
  void SendUntilTaken(const v1::PutOutputRequest& request) {
    while (true) {
      grpc::ClientContext context;
      {
        const std::lock_guard lock(mutex);
        if (ending) return;
        under_way = &context;
      }
      if (!token.empty()) context.AddMetadata(std::string(kTokenMetadata), std::string(kTokenScheme) + token);
      context.set_deadline(std::chrono::system_clock::now() + kPatience);
      v1::PutOutputResponse response;
      const grpc::Status status = stub->PutOutput(&context, request, &response);
      std::unique_lock lock(mutex);
      under_way = nullptr;
      if (status.ok()) return;
      const bool is_refused = status.error_code() == grpc::StatusCode::NOT_FOUND ||
                              status.error_code() == grpc::StatusCode::INVALID_ARGUMENT ||
                              status.error_code() == grpc::StatusCode::UNIMPLEMENTED;
      if (is_refused) {
        lock.unlock();
        return Log(LogLevel::kWarning, "the master does not take what a run has printed",
                   {{"run", request.run().run_id()}, {"reason", status.error_message()}});
      }
      if (changed.wait_for(lock, kPause, [this] { return ending; })) return;
    }
  }

  const std::string token;
  LoopQueue& queue;
  const std::unique_ptr<v1::NodeManagerService::Stub> stub;
  bool is_sending = false;  // of the event loop
  std::mutex mutex;
  std::condition_variable changed;
  bool ending = false;
  grpc::ClientContext* under_way = nullptr;
  WorkThreads thread{1};  // last, so that it ends first
};

OutputSender::OutputSender(const std::string& master_address, std::string token, LoopQueue& queue)
    : parts_(std::make_unique<Parts>(master_address, std::move(token), queue)) {}

OutputSender::~OutputSender() {
  {
    const std::lock_guard lock(parts_->mutex);
    parts_->ending = true;
    if (parts_->under_way != nullptr) parts_->under_way->TryCancel();
  }
  parts_->changed.notify_all();
}

bool OutputSender::is_sending() const { return parts_->is_sending; }

void OutputSender::Send(RunOutput output) {
  parts_->is_sending = true;
  parts_->thread.Do([parts = parts_.get(), request = ToProto(output)] {
    parts->SendUntilTaken(request);
    parts->queue.Post([parts] { parts->is_sending = false; });
  });
}

}  // namespace espalier::node
