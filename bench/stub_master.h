// A master for one real node manager: says what it is told to say, and notes when it hears what. Threads of gRPC and
// the bench's.
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "bench/service.h"
#include "espalier/v1/node_manager.grpc.pb.h"
#include "protocol/order.h"
#include "protocol/report.h"

namespace espalier::bench {

class StubMaster : public v1::NodeManagerService::Service {
 public:
  explicit StubMaster(const std::string& address);
  ~StubMaster() override;

  // What the node manager should be doing from now on.
  void Want(std::vector<Order> orders);

  // Its first offer.
  Offer AwaitOffer();
  // The last report of that kind about the run, and when it came.
  template <class Kind>
  std::pair<Kind, Seconds> Await(RunKey run);

  grpc::Status Synchronize(grpc::ServerContext* context,
                           grpc::ServerReaderWriter<v1::SynchronizeResponse, v1::SynchronizeRequest>* stream) override;

 private:
  struct Heard {
    Report report;
    Seconds at{0};
  };

  void Take(const v1::SynchronizeRequest& request);
  void Answer();
  template <class Condition>
  void Wait(std::unique_lock<std::mutex>& lock, const Condition& condition);

  std::unique_ptr<grpc::Server> server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  grpc::ServerReaderWriter<v1::SynchronizeResponse, v1::SynchronizeRequest>* stream_ = nullptr;
  std::vector<Order> orders_;
  std::vector<Offer> offers_;
  std::vector<Heard> reports_;
};

template <class Condition>
void StubMaster::Wait(std::unique_lock<std::mutex>& lock, const Condition& condition) {
  constexpr std::chrono::minutes kPatience{5};
  if (!changed_.wait_for(lock, kPatience, condition)) GiveUp("the node manager has not done what it should");
}

template <class Kind>
std::pair<Kind, Seconds> StubMaster::Await(RunKey run) {
  std::unique_lock lock(mutex_);
  const Heard* found = nullptr;
  Wait(lock, [&] {
    for (const Heard& heard : reports_) {
      if (const auto* failed = std::get_if<RunFailed>(&heard.report.kind)) GiveUp("a run failed: " + failed->message);
      if (heard.report.run == run && std::holds_alternative<Kind>(heard.report.kind)) found = &heard;
    }
    return found != nullptr;
  });
  return {std::get<Kind>(found->report.kind), found->at};
}

}  // namespace espalier::bench
