#include "client/cli/did_you_mean.h"

#include <catch2/catch.hpp>

#include "tests/unit/cli/run_command.h"

namespace espalier {
namespace {

// The first line of what is said of a wrong command line.
std::string Said(const std::vector<std::string>& arguments) {
  const testing::Outcome outcome = testing::RunCommand(arguments);
  CHECK(outcome.exit_code == kExitUsage);
  CHECK(outcome.out.empty());
  return outcome.err.substr(0, outcome.err.find('\n'));
}

TEST_CASE("a mistyped noun, verb or option is answered with the one that was meant") {
  CHECK(Said({"stduy", "list"}) == "espalier: no command stduy, did you mean study?");
  CHECK(Said({"study", "lst"}) == "espalier: no command lst, did you mean list?");
  CHECK(Said({"trial", "list", "small", "--limits", "3"}) == "espalier: no option --limits, did you mean --limit?");
  CHECK(Said({"trial", "list", "small", "--limt=3"}) == "espalier: no option --limt, did you mean --limit?");
  CHECK(Said({"--verison"}) == "espalier: no option --verison, did you mean --version?");
}

TEST_CASE("where nothing is near, all that there is is named") {
  CHECK(Said({"sequence", "walk"}) == "espalier: no command walk; expected one of: show");
  CHECK(Said({"completion", "powershell"}) == "espalier: no command powershell; expected one of: bash, zsh, fish");
  CHECK(Said({"manual", "--quietly"}) == "espalier: no option --quietly; expected one of: --help");
}

TEST_CASE("values are no names, and what else is wrong is said as before") {
  CHECK(Said({"trial", "list", "small", "--sort", "stduy"}).starts_with("--sort: stduy not in"));
  CHECK(Said({"trial", "list", "--limit", "3"}) == "STUDY is required");
  CHECK(Said({"study", "list", "--limit", "-2"}).starts_with("--limit: got -2; expected"));
  CHECK(Said({"study"}) == "A subcommand is required");
}

TEST_CASE("help and the version are shown whatever else is there") {
  CHECK(testing::RunCommand({"study", "list", "--stat", "--help"}).exit_code == kExitDone);
  const testing::Outcome version = testing::RunCommand({"--version"});
  CHECK(version.exit_code == kExitDone);
  CHECK_THAT(version.out, Catch::Matches("espalier [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

}  // namespace
}  // namespace espalier
