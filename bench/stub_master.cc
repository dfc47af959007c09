#include "bench/stub_master.h"

#include <algorithm>
#include <utility>

#include "proto/convert_node_protocol.h"

namespace espalier::bench {

StubMaster::StubMaster(const std::string& address) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) GiveUp("cannot listen at " + address);
}

StubMaster::~StubMaster() { server_->Shutdown(std::chrono::system_clock::now()); }

void StubMaster::Want(std::vector<Order> orders) {
  const std::lock_guard lock(mutex_);
  orders_ = std::move(orders);
  if (stream_ != nullptr) Answer();
}

Offer StubMaster::AwaitOffer() {
  std::unique_lock lock(mutex_);
  Wait(lock, [&] { return !offers_.empty(); });
  return offers_.front();
}

grpc::Status StubMaster::Synchronize(
    grpc::ServerContext*, grpc::ServerReaderWriter<v1::SynchronizeResponse, v1::SynchronizeRequest>* stream) {
  v1::SynchronizeRequest request;
  while (stream->Read(&request)) {
    const std::lock_guard lock(mutex_);
    stream_ = stream;
    Take(request);
    Answer();
    changed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  stream_ = nullptr;
  return grpc::Status::OK;
}

void StubMaster::Take(const v1::SynchronizeRequest& request) {
  const Seconds now = MonotonicNow();
  if (request.has_registration()) {
    for (const ServerOffer& offer : Need(FromProto(request.registration())).offers) offers_.push_back(offer.offer);
  }
  for (const v1::Report& report : request.reports()) {
    const std::int64_t last = reports_.empty() ? 0 : reports_.back().report.number;
    if (report.number() > last) reports_.push_back({Need(FromProto(report)), now});
  }
}

void StubMaster::Answer() {
  const std::int64_t last = reports_.empty() ? 0 : reports_.back().report.number;
  stream_->Write(ToProto(ServerOrders{.orders = orders_, .acknowledged_report = last, .superseded_files = {}}));
}

}  // namespace espalier::bench
