// The words in which policies write on trials what they must find again after a restart: numbers are read back bit for
// bit.
#pragma once

#include <charconv>
#include <iterator>
#include <string>
#include <string_view>

namespace espalier {

template <class Number>
void AppendNumber(std::string& text, Number number) {
  char buffer[32];
  const auto end = std::to_chars(std::begin(buffer), std::end(buffer), number).ptr;
  text.append(buffer, end);
}

// Takes words and numbers off the front of a text, as long as they are the expected ones.
class LabelReader {
 public:
  explicit LabelReader(std::string_view text) : text_(text) {}

  LabelReader& Skip(std::string_view expected) {
    if (text_.starts_with(expected)) {
      text_.remove_prefix(expected.size());
    } else {
      fits_ = false;
    }
    return *this;
  }
  template <class Number>
  LabelReader& Take(Number& number) {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error == std::errc()) {
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    } else {
      fits_ = false;
    }
    return *this;
  }
  // All that is left. REQUIRES: the last that is taken.
  LabelReader& TakeRest(std::string& rest) {
    rest = text_;
    text_ = {};
    return *this;
  }
  bool Begins(std::string_view with) const { return text_.starts_with(with); }
  bool is_done() const { return fits_ && text_.empty(); }

 private:
  std::string_view text_;
  bool fits_ = true;
};

}  // namespace espalier
