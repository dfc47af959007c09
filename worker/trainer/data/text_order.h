// The order in which the windows of a text are trained on: an epoch goes through all its pages, in an order that is a
// function of (seed, epoch), and cuts windows from them one after another, across pages. The place is counted in
// tokens, so that the windows' length may change at any time. Not thread-safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace espalier::trainer {

inline constexpr std::int64_t kPageTokens = 512;

class TextOrder {
 public:
  // At the beginning of epoch 0. `text` must live as long. REQUIRES: at least two tokens.
  TextOrder(std::string_view text, std::uint64_t seed);

  // Writes the next `length` tokens, and the one behind them, which is no part of this window. What is left of an epoch
  // and too short for a window is left out. REQUIRES: 1 <= length < size of the text; room for length + 1.
  void Next(std::int64_t length, std::int64_t* tokens);

  // The place: counted from 0.
  std::int64_t epoch() const { return epoch_; }
  std::int64_t position() const { return position_; }

  // Goes to a place. Returns false, and stays, if there is no such place.
  bool GoTo(std::int64_t epoch, std::int64_t position);

 private:
  // Of the place in the present epoch's order.
  std::int64_t TokenAt(std::int64_t position) const;
  std::int64_t size() const { return static_cast<std::int64_t>(text_.size()); }

  const std::string_view text_;
  const std::uint64_t seed_;
  std::int64_t epoch_ = 0;
  std::int64_t position_ = 0;
  std::vector<std::int64_t> pages_;  // whole ones, in this epoch's order; what is left of the text comes last
};

}  // namespace espalier::trainer
