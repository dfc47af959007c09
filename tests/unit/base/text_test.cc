#include "base/text.h"

#include <catch2/catch.hpp>

#include "base/log_line.h"

namespace espalier {
namespace {

const std::string kZeroByte("a\0b", 3);

}  // namespace

TEST_CASE("text is valid when it is UTF-8 without zero bytes") {
  for (const char* text : {"", "plain", "tab\tand\nline", "\xc3\xa9", "\xe0\xa0\x80", "\xe2\x82\xac", "\xed\x9f\xbf",
                           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    CAPTURE(text);
    CHECK(IsValidText(text));
    CHECK(CleanText(text) == text);
  }
}

TEST_CASE("zero bytes, stray bytes, overlong forms, surrogates and what is past the last letter are no valid text") {
  CHECK_FALSE(IsValidText(kZeroByte));
  for (const char* text :
       {"\x80", "\xff", "\xc3", "\xc3(", "\xc0\xaf", "\xc1\xbf", "\xe2\x82", "\xe0\x9f\xbf", "\xed\xa0\x80",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf0\x90\x80", "a\xe2\x82z"}) {
    CAPTURE(text);
    CHECK_FALSE(IsValidText(text));
    CHECK(IsValidText(CleanText(text)));
  }
}

TEST_CASE("cleaned text keeps its letters and its length") {
  CHECK(CleanText(kZeroByte) == "a?b");
  CHECK(CleanText("\xc3\xa9\xff\xe2\x82z\xf0") == "\xc3\xa9???z?");
}

TEST_CASE("every text of two bytes around the borders is valid once cleaned") {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second), '\x80', '\x80'};
      const std::string clean = CleanText(text);
      if (!IsValidText(clean) || clean.size() != text.size()) FAIL(first << " " << second);
    }
  }
}

TEST_CASE("long text loses its middle, and no letter is cut") {
  CHECK(CleanText("0123456789abcdef", 16) == "0123456789abcdef");
  CHECK(CleanText("0123456789abcdefg", 16) == "012345\n...\ncdefg");
  std::string letters;
  for (int i = 0; i < 100; ++i) letters += "\xe2\x82\xac";
  for (std::size_t bytes_max = 16; bytes_max < 40; ++bytes_max) {
    const std::string cut = CleanText(letters, bytes_max);
    CHECK(cut.size() == bytes_max);
    CHECK(IsValidText(cut));
  }
}

TEST_CASE("visible text is one line that controls no terminal, and keeps its letters") {
  CHECK(VisibleLine("Größe 学習率 \\ \"quoted\"") == "Größe 学習率 \\ \"quoted\"");
  CHECK(VisibleLine("a\nb\tc\rd") == "a\\nb\\tc\\x0dd");
  CHECK(VisibleLine("\x1b[2J\x7f") == "\\x1b[2J\\x7f");
  CHECK(VisibleLine(std::string("\0", 1)) == "\\x00");
  CHECK(VisibleLine("\xc2\x9b"
                    "2J\xc2\xa0") ==
        "\\x9b"
        "2J\xc2\xa0");  // CSI in one character; a space that breaks no line
}

TEST_CASE("nobody's name forges a line of a log") {
  const LogLine line{LogLevel::kInfo, "study created", {{"name", "x\n2026-01-01 error disk full"}}};
  CHECK(Print(line) == "study created name=\"x\\n2026-01-01 error disk full\"");
  CHECK(Print(LogLine{LogLevel::kInfo, "study created", {{"name", "x\" user=\"root"}}}) ==
        R"(study created name="x\" user=\"root")");
}

}  // namespace espalier
