// A container that is empty most of the time, and then takes a pointer's room. A value: copies are deep.
// Changing needs Mutable, which makes the container; reading never does.
#pragma once

#include <memory>

namespace espalier {

template <class Container>
class Sparse {
 public:
  Sparse() = default;
  Sparse(Container content) : held_(content.empty() ? nullptr : std::make_unique<Container>(std::move(content))) {}
  Sparse(const Sparse& other) : Sparse(*other) {}
  Sparse(Sparse&&) noexcept = default;
  Sparse& operator=(Sparse other) noexcept {
    held_ = std::move(other.held_);
    return *this;
  }
  ~Sparse() = default;

  const Container& operator*() const { return held_ == nullptr ? Empty() : *held_; }
  const Container* operator->() const { return &**this; }
  Container& Mutable() {
    if (held_ == nullptr) held_ = std::make_unique<Container>();
    return *held_;
  }

  bool empty() const { return (**this).empty(); }
  auto begin() const { return (**this).begin(); }
  auto end() const { return (**this).end(); }

  friend bool operator==(const Sparse& a, const Sparse& b) { return *a == *b; }

 private:
  static const Container& Empty() {
    static const Container kEmpty;
    return kEmpty;
  }

  std::unique_ptr<Container> held_;
};

}  // namespace espalier
