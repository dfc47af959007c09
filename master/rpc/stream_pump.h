// The one thread that serves all streams of events: it does what other threads hand it, what gRPC has completed among
// that, and what is due, one after the other, so that all that lives on it needs no lock. Nothing on it may wait. A
// second thread waits for gRPC, and hands over.
// gRPC's callbacks would do for that, but the threads that call them sleep a tenth of a second whenever a second was
// quiet.
#pragma once

#include <grpcpp/completion_queue.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/units.h"

namespace espalier::master {

class StreamPump {
 public:
  // What a call of gRPC's is given as its tag.
  class Operation {
   public:
    virtual ~Operation() = default;
    // On the pump's thread, once gRPC has completed it; may go with that. `ok`: as gRPC says.
    virtual void Done(bool ok) = 0;
  };

  ~StreamPump() { Stop(); }

  // `work` does what is due, and says in how long it is to be called again, at the latest. REQUIRES: called once.
  void Start(std::unique_ptr<grpc::ServerCompletionQueue> queue, std::function<Seconds()> work);

  // Any thread. `function` is called on the pump's thread, in the order in which they are handed; before Start and
  // after Stop it is dropped. Takes microseconds.
  void Hand(std::function<void()> function);

  // The tag of an operation that gRPC will complete. REQUIRES: on the pump's thread, or before Stop.
  void* Begin(Operation& operation);

  // Returns once every operation is completed. REQUIRES: the server is shut down; not called on the pump's thread.
  void Stop();

  grpc::ServerCompletionQueue& queue() { return *queue_; }

 private:
  void WaitForGrpc();
  void Run();

  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::function<Seconds()> work_;
  std::thread waiting_;
  std::thread thread_;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::condition_variable completed_;
  std::vector<std::function<void()>> handed_;
  int open_ = 0;  // operations that are not completed
  bool is_running_ = false;
};

}  // namespace espalier::master
