// Calls that are streams and hold no thread, as gRPC carries them: how they begin and end.
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <future>

#include "base/digest.h"
#include "espalier/v1/study.pb.h"
#include "master/rpc/guarded_service.h"
#include "tests/support/raw_call.h"
#include "tests/support/temporary_folder.h"

namespace espalier::master::testing {
namespace {

constexpr char kMethod[] = "/toy.Service/Stream";

// What is done with a call as its request comes.
using Answer = std::function<void(StreamCall& call)>;

class ToyService final : public GuardedService {
 public:
  ToyService(const Callers& callers, Answer answer)
      : GuardedService("toy.Service", callers), answer_(std::move(answer)) {
    ServeStreams("Stream", &Callers::Member, &ToyService::Open);
  }

 private:
  struct Server final : StreamServer {
    Server(StreamCall& of, const Answer& with) : call(of), answer(with) {}
    Result<void> Take(grpc::ByteBuffer& body) override {
      v1::WatchRequest request;
      ESPALIER_RETURN_IF_ERROR(call.Parse(body, request));
      answer(call);
      return {};
    }
    void TakeNoMore() override { call.End({}); }
    void Written() override {}
    StreamCall& call;
    const Answer& answer;
  };
  Result<std::unique_ptr<StreamServer>> Open(StreamCall& call, const Caller&) {
    return std::make_unique<Server>(call, answer_);
  }

  const Answer answer_;
};

struct Toy {
  explicit Toy(Answer answer) : service(callers, std::move(answer)) {
    callers.Admit({{"ann", {.name = "ann", .team = "vision", .token_sha256 = Sha256Hex("secret")}}});
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    pump.Start(builder.AddCompletionQueue(/*is_frequently_polled=*/false), [] { return Seconds{1}; });
    builder.RegisterService(&service);
    server = builder.BuildAndStart();
    REQUIRE(server != nullptr);
    service.StartStreams(pump);
    grpc::ChannelArguments small_window;  // of what a caller takes in before he reads it
    small_window.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    channel = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), small_window);
  }
  ~Toy() { Stop(); }
  void Stop() {
    server->Shutdown(std::chrono::system_clock::now());
    pump.Stop();
  }

  TemporaryFolder folder;
  const std::string address = "unix:" + (folder.path() / "socket").string();
  Callers callers;
  StreamPump pump;
  ToyService service;
  std::unique_ptr<grpc::Server> server;
  std::shared_ptr<grpc::Channel> channel;
};

grpc::ByteBuffer BufferOf(std::size_t bytes) {
  const grpc::Slice slice(std::string(bytes, 'x'));
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace

TEST_CASE("a stream that ends while something is being written ends behind that, and one that is broken at once") {
  constexpr std::size_t kLarge = std::size_t{3} << 20;  // more than a caller's window, who does not read
  const Error error{ErrorCode::kUnavailable, "why it ends", "field"};
  Toy ending([&](StreamCall& call) {
    call.Write(BufferOf(kLarge));
    call.End(tl::unexpected<Error>(error));
    call.End({});
  });
  const Outcome ended = CallOnce(ending.channel, kMethod, v1::WatchRequest(), "Bearer secret");
  CHECK(ended.code == grpc::StatusCode::UNAVAILABLE);
  CHECK(ended.message == "why it ends");
  REQUIRE(ended.responses.size() == 1);
  CHECK(ended.responses[0].size() == kLarge);

  std::promise<void> is_broken;
  Toy breaking([&](StreamCall& call) {
    call.Write(BufferOf(kLarge));
    call.End({});
    call.Break(error);
    is_broken.set_value();
  });
  RawCall sleeping(breaking.channel, kMethod, v1::WatchRequest(), "Bearer secret");
  is_broken.get_future().wait();
  const Outcome broken = sleeping.Finish();
  CHECK(broken.code == grpc::StatusCode::UNAVAILABLE);
  CHECK(broken.message == "why it ends");
  CHECK(broken.responses.empty());
}

TEST_CASE("a stream's caller is asked for his token before anything of a request is read") {
  int answered = 0;
  Toy toy([&](StreamCall& call) {
    ++answered;
    call.End({});
  });
  RawCall stranger(toy.channel, kMethod, "Bearer wrong");  // and sends no request
  CHECK(stranger.Finish().code == grpc::StatusCode::UNAUTHENTICATED);
  RawCall garbled(toy.channel, kMethod, "Bearer secret");
  garbled.WriteBytes("\xff\xff");
  const Outcome refused = garbled.Finish();
  CHECK(refused.code == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(refused.message == "the request is no espalier.v1.WatchRequest");
  CHECK(CallOnce(toy.channel, kMethod, v1::WatchRequest(), "Bearer secret").code == grpc::StatusCode::OK);
  toy.Stop();
  CHECK(answered == 1);
}

TEST_CASE("streams that are open, idle or full, do not keep a server from stopping") {
  Toy toy([](StreamCall& call) { call.Write(BufferOf(std::size_t{3} << 20)); });
  RawCall idle(toy.channel, kMethod, "Bearer secret");
  RawCall full(toy.channel, kMethod, "Bearer secret");
  full.Write(v1::WatchRequest());
  toy.Stop();
  CHECK(idle.Finish().code != grpc::StatusCode::OK);
  CHECK(full.Finish().code != grpc::StatusCode::OK);
}

}  // namespace espalier::master::testing
