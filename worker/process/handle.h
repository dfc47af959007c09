// A file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace espalier::worker {

class Handle {
 public:
  Handle() = default;
  explicit Handle(int fd) : fd_(fd) {}  // -1: none
  ~Handle() {
    if (fd_ >= 0) close(fd_);
  }
  Handle(Handle&& other) noexcept : fd_(other.Take()) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  // It is somebody else's to close.
  int Take() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace espalier::worker
