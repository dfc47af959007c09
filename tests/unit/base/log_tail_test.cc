#include "base/log_tail.h"

#include <catch2/catch.hpp>

namespace espalier {
namespace {

using Part = LogTail::Part;

TEST_CASE("lines are given out once, in order, as many together as fit") {
  LogTail tail(100);
  CHECK_FALSE(tail.Take(10).has_value());
  for (const char* line : {"one\n", "two\n", "three\n"}) tail.Add(line);
  CHECK(tail.Take(8) == Part{0, "one\ntwo\n"});
  tail.Add("four\n");
  CHECK(tail.Take(100) == Part{8, "three\nfour\n"});
  CHECK_FALSE(tail.Take(100).has_value());
}

TEST_CASE("of what nobody takes the oldest lines are left out, and positions say so") {
  LogTail tail(10);
  for (const char* line : {"first\n", "second\n", "3\n"}) tail.Add(line);
  CHECK(tail.Take(100) == Part{6, "second\n3\n"});
}

TEST_CASE("of a line that is too long its beginning is given out, and what follows it keeps its position") {
  LogTail tail(100);
  tail.Add("a long line\n");
  tail.Add("next\n");
  CHECK(tail.Take(6) == Part{0, "a long"});
  CHECK(tail.Take(6) == Part{12, "next\n"});
}

}  // namespace
}  // namespace espalier
