// What a worker prints, told apart by runs and steps, and how much of it is sent on.
#include "worker/node/worker_output.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace espalier::node {
namespace {

RunKey Numbered(std::int64_t run) { return {LeadershipId{77}, RunId{run}}; }

// A log that the test writes, as a worker does.
struct Log {
  void Print(const std::string& text) { std::ofstream(path, std::ios::app) << text; }
  void BeginAfresh() { std::filesystem::resize_file(path, 0); }
  // A second later.
  std::optional<RunOutput> Take() { return output.Take(now += Seconds(1)); }
  std::vector<OutputPiece> Pieces() {
    const std::optional<RunOutput> taken = Take();
    return taken.has_value() ? taken->pieces : std::vector<OutputPiece>();
  }

  TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "log";
  const bool made = (Print(""), true);
  WorkerOutput output{path};
  Seconds now{100};
};

using Pieces = std::vector<OutputPiece>;

}  // namespace

TEST_CASE("what a worker prints belongs to the run and the step that it is at") {
  Log log;
  log.Print("imported\n");
  log.output.BeginRun(Numbered(1), log.now);
  log.Print("hello\n");
  log.output.BeginStep(Step{4});
  log.Print("four\n");
  log.output.BeginStep(Step{5});
  log.output.BeginStep(Step{6});
  log.Print("six\n");
  const auto taken = log.Take();
  REQUIRE(taken.has_value());
  CHECK(taken->run == Numbered(1));
  CHECK(taken->pieces == Pieces{{Step{0}, 0, "hello\n"}, {Step{4}, 6, "four\n"}, {Step{6}, 11, "six\n"}});
  log.Print("more\n");
  CHECK(log.Pieces() == Pieces{{Step{6}, 15, "more\n"}});
  CHECK_FALSE(log.Take().has_value());
}

TEST_CASE("of a run that goes on something is sent once a second, of one that is over at once") {
  Log log;
  log.output.BeginRun(Numbered(1), log.now);
  log.Print("one");
  CHECK_FALSE(log.output.Take(log.now).has_value());
  log.output.EndRun();
  log.Print("nobody's");
  log.output.BeginRun(Numbered(2), log.now);
  log.Print("two");
  const auto first = log.output.Take(log.now);
  REQUIRE(first.has_value());
  CHECK(first->run == Numbered(1));
  CHECK(first->pieces == Pieces{{Step{0}, 0, "one"}});
  CHECK_FALSE(log.output.Take(log.now).has_value());
  log.output.End();
  const auto last = log.output.Take(log.now);
  REQUIRE(last.has_value());
  CHECK(last->run == Numbered(2));
  CHECK(last->pieces == Pieces{{Step{0}, 0, "two"}});
  CHECK_FALSE(log.output.is_done());
  CHECK_FALSE(log.output.Take(log.now).has_value());
  CHECK(log.output.is_done());
}

TEST_CASE("of a flood the newest is sent on, in bounds, and its positions say what was left out") {
  Log log;
  const std::string line = std::string(99, 'x') + "\n";
  std::string mebibyte;
  for (int i = 0; i < (1 << 20) / 100; ++i) mebibyte += line;
  const auto size = static_cast<std::int64_t>(mebibyte.size());
  log.output.BeginRun(Numbered(1), log.now);
  log.Print(mebibyte);
  const Pieces first = log.Pieces();
  REQUIRE(first.size() == 1);
  CHECK(first[0].text.size() <= 66 << 10);
  CHECK(first[0].text.size() >= 60 << 10);
  CHECK(first[0].text.starts_with(line));
  CHECK(first[0].position == size - static_cast<std::int64_t>(first[0].text.size()));
  log.Print(mebibyte);
  const Pieces second = log.Pieces();
  REQUIRE(second.size() == 1);
  CHECK(second[0].text.size() <= 4 << 10);
  CHECK(second[0].position == 2 * size - static_cast<std::int64_t>(second[0].text.size()));
  log.Print(mebibyte + "last words\n");
  log.output.End();
  const Pieces last = log.Pieces();
  REQUIRE(last.size() == 1);
  CHECK(last[0].text.size() <= kOutputBytesMax);
  CHECK(last[0].text.size() >= kOutputBytesMax - 100);
  CHECK(last[0].text.ends_with("last words\n"));
}

TEST_CASE("steps that print are joined where there are many, under the last of them") {
  Log log;
  log.output.BeginRun(Numbered(1), log.now);
  std::string all;
  for (std::int64_t step = 1; step <= 1000; ++step) {
    log.output.BeginStep(Step{step});
    log.Print(std::to_string(step) + "\n");
    all += std::to_string(step) + "\n";
  }
  const Pieces pieces = log.Pieces();
  CHECK(pieces.size() <= kOutputPiecesMax);
  CHECK(pieces.back().step == Step{1000});
  std::string text;
  for (const OutputPiece& piece : pieces) {
    CHECK(piece.position == static_cast<std::int64_t>(text.size()));
    text += piece.text;
    CHECK(text.ends_with("\n" + std::to_string(piece.step.value) + "\n"));
  }
  CHECK(text == all);
}

TEST_CASE("a log that is begun afresh loses what was not read, and nothing else") {
  Log log;
  log.output.BeginRun(Numbered(1), log.now);
  log.output.BeginStep(Step{3});
  log.Print("read\n");
  CHECK(log.Pieces().size() == 1);
  log.Print("never read\n");
  log.output.BeginStep(Step{4});
  log.BeginAfresh();
  log.Print("new\n");
  CHECK(log.Pieces() == Pieces{{Step{4}, 16, "new\n"}});
}

TEST_CASE("a log holds what a run printed last until that was given out: before, nobody begins it afresh") {
  Log log;
  log.Print("nobody's\n");
  CHECK_FALSE(log.output.HasUnread());
  log.output.BeginRun(Numbered(1), log.now);
  CHECK_FALSE(log.output.HasUnread());
  log.Print("last words\n");
  CHECK(log.output.HasUnread());
  log.output.EndRun();
  CHECK(log.output.HasUnread());
  CHECK(log.Pieces().size() == 1);
  CHECK_FALSE(log.output.HasUnread());
  log.Print("nobody's\n");
  CHECK_FALSE(log.output.HasUnread());
}

TEST_CASE("what a run has printed itself begins behind what others have, who may be other teams") {
  Log log;
  log.Print("imported\n");
  CHECK(log.output.own_from() == 0);
  log.output.BeginRun(Numbered(1), log.now);
  CHECK(log.output.own_from() == 9);
  log.Print("a secret\n");
  log.output.BeginStep(Step{1});
  CHECK(log.output.own_from() == 9);
  log.output.BeginRun(Numbered(2), log.now);
  CHECK(log.output.own_from() == 18);
  log.Print("a traceback\n");
  SECTION("it has ended") {
    log.output.EndRun();
    CHECK(log.output.own_from() == 30);
    log.output.EndRun();
    CHECK(log.output.own_from() == 30);
  }
  SECTION("the log was begun afresh") {
    log.BeginAfresh();
    log.Print("its end\n");
    log.output.End();
    CHECK(log.output.own_from() == 0);
  }
}

TEST_CASE("a letter is not cut while the run goes on, and what is no text is made one") {
  Log log;
  log.output.BeginRun(Numbered(1), log.now);
  log.Print("n\xc3");
  CHECK(log.Pieces() == Pieces{{Step{0}, 0, "n"}});
  log.Print(
      "\xa4"
      "chste\n\xff\xc3");
  CHECK(log.Pieces() == Pieces{{Step{0}, 1,
                                "\xc3\xa4"
                                "chste\n?"}});
  log.output.End();
  CHECK(log.Pieces() == Pieces{{Step{0}, 10, "?"}});
}

}  // namespace espalier::node
