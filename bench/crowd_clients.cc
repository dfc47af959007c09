#include "bench/crowd_clients.h"

#include <grpcpp/grpcpp.h>

#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "base/token.h"
#include "bench/service.h"
#include "client/connection.h"
#include "espalier/v1/study.grpc.pb.h"

namespace espalier::bench {

struct CrowdClients::Client {
  // What gRPC has done of it.
  struct Tag {
    Client* client = nullptr;
    enum { kOpened, kRead, kWritten } done = kOpened;
  };

  grpc::ClientContext context;
  std::unique_ptr<v1::StudyService::Stub> stub;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<v1::WatchStudiesRequest, v1::WatchStudiesResponse>> stream;
  v1::WatchStudiesResponse response;
  Tag opened{this, Tag::kOpened};
  Tag read{this, Tag::kRead};
  Tag written{this, Tag::kWritten};
  bool is_open = false;
  std::map<std::int64_t, std::int64_t> next;  // event, by watch
  std::mutex mutex;                           // of what follows
  std::deque<v1::WatchStudiesRequest> to_write;
  bool is_writing = false;
};

struct CrowdClients::Parts {
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<Client>> clients;
  std::atomic<std::size_t> open = 0;
  std::atomic<std::int64_t> events = 0;
  std::atomic<bool> has_failed = false;
  std::atomic<bool> is_ending = false;
  std::thread thread;
};

CrowdClients::CrowdClients(const std::string& address, const std::vector<std::string>& tokens, std::size_t count)
    : parts_(std::make_unique<Parts>()) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  for (std::size_t i = 0; i < count; ++i) {
    Client& client = *parts_->clients.emplace_back(std::make_unique<Client>());
    client.context.AddMetadata(std::string(kTokenMetadata), std::string(kTokenScheme) + tokens[i % tokens.size()]);
    client.stub =
        v1::StudyService::NewStub(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
    client.stream = client.stub->AsyncWatchStudies(&client.context, &parts_->queue, &client.opened);
  }
  parts_->thread = std::thread([this] { Read(); });
  while (parts_->open < count && !parts_->has_failed) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  events();
}

CrowdClients::~CrowdClients() {
  parts_->is_ending = true;
  for (const auto& client : parts_->clients) client->context.TryCancel();
  parts_->queue.Shutdown();
  parts_->thread.join();
}

void CrowdClients::Watch(std::size_t index, StudyId study) {
  Client& client = *parts_->clients[index];
  v1::WatchStudiesRequest request;
  request.set_watch_id(study.value);
  request.mutable_begin()->set_study_id(study.value);
  const std::lock_guard lock(client.mutex);
  client.to_write.push_back(std::move(request));
  if (!std::exchange(client.is_writing, true)) client.stream->Write(client.to_write.front(), &client.written);
}

std::int64_t CrowdClients::events() const {
  if (parts_->has_failed) GiveUp("a client's stream has ended, or its events came out of turn");
  return parts_->events;
}

void CrowdClients::Read() {
  void* tag = nullptr;
  bool ok = false;
  while (parts_->queue.Next(&tag, &ok)) {
    if (parts_->is_ending) continue;
    const auto& done = *static_cast<Client::Tag*>(tag);
    Client& client = *done.client;
    if (!ok) {
      parts_->has_failed = true;
      continue;
    }
    if (done.done == Client::Tag::kWritten) {
      const std::lock_guard lock(client.mutex);
      client.to_write.pop_front();
      client.is_writing = !client.to_write.empty();
      if (client.is_writing) client.stream->Write(client.to_write.front(), &client.written);
      continue;
    }
    if (done.done == Client::Tag::kOpened) ++parts_->open;
    if (done.done == Client::Tag::kRead) Take(client);
    client.stream->Read(&client.response, &client.read);
  }
}

void CrowdClients::Take(Client& client) {
  std::int64_t& next = client.next.try_emplace(client.response.watch_id(), 1).first->second;
  for (const v1::StudyEvent& event : client.response.events()) {
    if (event.number() != next++) parts_->has_failed = true;
    ++parts_->events;
    if (event.has_study_finished()) client.next.erase(client.response.watch_id());
  }
  client.response.Clear();
}

}  // namespace espalier::bench
