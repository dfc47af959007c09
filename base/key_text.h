// Joins texts so that different lists give different results: each goes behind its length.
#pragma once

#include <string>
#include <string_view>

namespace espalier {

class KeyText {
 public:
  explicit KeyText(std::string_view kind) { Add(kind); }

  KeyText& Add(std::string_view part) {
    text_ += std::to_string(part.size());
    text_ += ':';
    text_ += part;
    return *this;
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace espalier
