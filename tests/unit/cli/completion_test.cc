// The scripts, and what a real bash makes of its own.
#include "client/cli/completion.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "base/run_to_end.h"
#include "tests/unit/cli/fake_service.h"
#include "tests/unit/cli/run_command.h"

namespace espalier {
namespace {

// What bash offers for the last of the words.
std::string Completed(const std::vector<std::string>& words) {
  const testing::Directory directory;
  const std::string script = directory.Write("completion", testing::RunCommand({"completion", "bash"}).out);
  std::vector<std::string> command = {"bash", "-uc",
                                      "source \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); "
                                      "_espalier; printf '%s ' \"${COMPREPLY[@]}\"",
                                      script};
  command.insert(command.end(), words.begin(), words.end());
  const Ended ended = RunToEnd(command);
  CHECK(ended.status == 0);
  return ended.said;
}

std::string given;  // by nobody

Command Example() {
  return {
      .name = "garden",
      .help = "Grows",
      .commands = {
          {.name = "tree",
           .help = "A tree",
           .commands = {
               {.name = "cut",
                .help = "It's cut",
                .arguments = {{"FILE", &given, "which"}},
                .options =
                    {{.name = "--form", .target = &given, .help = "which \\ form", .one_of = {"espalier", "cordon"}},
                     {.name = "--map", .target = &given, .help = "where", .placeholder = "FILE"}},
                .run = [] { return 0; }}}}}};
}

TEST_CASE("bash completes commands by the command before them") {
  CHECK(Completed({"espalier", "st"}) == "study stage ");
  CHECK(Completed({"/opt/espalier/bin/espalier", "study", "f"}) == "forecast ");
  CHECK(Completed({"espalier", "completion", ""}) == "bash zsh fish --help ");
  CHECK(Completed({"espalier", "study", "show", "study", "li"}) == " ");  // a study of that name, no noun
}

TEST_CASE("bash completes options, and the values that they take") {
  CHECK(Completed({"espalier", "--v"}) == "--version ");
  CHECK(Completed({"espalier", "trial", "list", "small", "--s"}) == "--sort --state --server --server-name ");
  CHECK(Completed({"espalier", "study", "list", "--state", ""}) == "running finished ");
  CHECK(Completed({"espalier", "study", "list", "--state", "=", "fin"}) == "finished ");
  CHECK(Completed({"espalier", "study", "list", "--state", "="}) == "running finished ");
  CHECK(Completed({"espalier", "study", "list", "--limit", ""}) == " ");  // any number
  CHECK(Completed({"espalier", "study", "run", "--de"}) == "--detach ");
}

TEST_CASE("bash completes files where one is asked for") {
  const testing::Directory directory;
  const std::string script = directory.Write("completion", testing::RunCommand({"completion", "bash"}).out);
  const auto asks_for_files = [&](const std::string& words) {
    const Ended ended = RunToEnd({"bash", "-c",
                                  "source \"$0\"; compopt() { echo \"$*\"; }; COMP_WORDS=(" + words +
                                      "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _espalier; true",
                                  script});
    CHECK(ended.status == 0);
    return ended.said == "-o default";
  };
  CHECK(asks_for_files("espalier study run \"\""));
  CHECK(asks_for_files("espalier study list --data \"\""));
  CHECK_FALSE(asks_for_files("espalier study run -"));
  CHECK_FALSE(asks_for_files("espalier study show \"\""));
  CHECK_FALSE(asks_for_files("espalier study list --limit \"\""));
}

TEST_CASE("zsh and fish are given the help, in their quotes") {
  const std::string zsh = ZshCompletion(Example());
  CHECK_THAT(zsh, Catch::StartsWith("#compdef garden\n_garden() {\n") &&
                      Catch::Contains("('garden tree') choices=('cut:It'\\''s cut' '--help:Print this help") &&
                      Catch::Contains("('garden tree cut --form') choices=('espalier' 'cordon') ;;") &&
                      Catch::Contains("('garden tree cut --map') choices=() files=yes ;;"));
  const std::string fish = FishCompletion(Example());
  CHECK_THAT(fish, Catch::Contains("complete -c garden -n '__garden_at garden tree' -a cut -d 'It\\'s cut'\n") &&
                       Catch::Contains("-n '__garden_at garden tree cut' -F\n") &&
                       Catch::Contains(" -l form -x -a 'espalier cordon' -d 'which \\\\ form'\n") &&
                       Catch::Contains(" -l map -r -F -d 'where'\n") &&
                       Catch::Contains(" -l help -d 'Print this help"));
}

}  // namespace
}  // namespace espalier
