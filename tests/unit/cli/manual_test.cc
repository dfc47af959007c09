#include "client/cli/manual.h"

#include <catch2/catch.hpp>

#include "tests/unit/cli/run_command.h"

namespace espalier {
namespace {

TEST_CASE(
    "the manual has every command's arguments and options, with nothing in them that roff would take for its own") {
  std::string text;
  std::vector<std::string> list;
  bool flag = false;
  const Command program{
      .name = "garden",
      .help = "Grows",
      .commands = {{.name = "tree",
                    .help = ".prune it, at ~/x",
                    .arguments = {{"PLACE", &list, "where", true}},
                    .options = {{.name = "--by", .target = &text, .help = "a \\ or a `", .required = true},
                                {.name = "--to", .target = &text, .help = "to", .one_of = {"a", "b"}},
                                {.name = "--dry-run", .target = &flag, .help = "don't"}},
                    .run = [] { return 0; }}},
      .version = "1.2"};
  const std::string page = ManualPage(program);
  CHECK_THAT(
      page,
      Catch::StartsWith(".TH GARDEN 1 \"\" \"garden 1.2\"\n.SH NAME\ngarden \\- Grows\n") &&
          Catch::Contains("\n.TP\n\\fB\\-\\-version\\fR\n") &&
          Catch::EndsWith(".SS garden tree\n"
                          "\\fBgarden tree\\fR [\\fIPLACE\\fR ...] \\fB\\-\\-by\\fR \\fITEXT\\fR [\\fIOPTION\\fR ...]\n"
                          ".PP\n\\&.prune it, at \\(ti/x\n"
                          ".TP\n\\fIPLACE\\fR\nwhere\n"
                          ".TP\n\\fB\\-\\-by\\fR \\fITEXT\\fR\na \\e or a \\(ga\n"
                          ".TP\n\\fB\\-\\-to\\fR \\fIa|b\\fR\nto\n"
                          ".TP\n\\fB\\-\\-dry\\-run\\fR\ndon\\(aqt\n"));
}

TEST_CASE("the program's own manual has its verbs") {
  const testing::Outcome manual = testing::RunCommand({"manual"});
  CHECK(manual.exit_code == kExitDone);
  CHECK_THAT(manual.out, Catch::Contains("\n.SS espalier study show\n") && Catch::Contains("\n.SS espalier manual\n"));
}

}  // namespace
}  // namespace espalier
