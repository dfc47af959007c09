// A master as its clients see it, whatever it is made of.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

namespace espalier::testing {

// It offers the trainer "toy", of one hyper-parameter "lr", whose evaluation returns the metric "score".
class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::shared_ptr<grpc::Channel> channel() = 0;
  // A member's, who creates the studies.
  virtual std::string token() = 0;
  // All claims of at most 100 steps are trained: `score` is 0.5 everywhere. Others wait for ever.
  virtual void Train() = 0;
};

// Defined by each implementation that the suite is linked with.
std::unique_ptr<Backend> MakeBackend();

}  // namespace espalier::testing
