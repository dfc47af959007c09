#include "worker/trainer/registry.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/unit/trainer/data_folder.h"
#include "worker/trainer/command_line.h"

namespace espalier::trainer {

TEST_CASE("the built-in trainers declare what they are, the same in every release", "[torch]") {
  const std::vector<TrainerKind> kinds = ChooseTrainers({}).value();
  for (const TrainerKind& kind : kinds) {
    INFO(kind.name);
    CHECK(std::ranges::is_sorted(kind.hyper_parameters, {}, &DeclaredHyperParameter::name));
    CHECK(std::ranges::is_sorted(kind.metrics));
    CHECK_FALSE(kind.code_digest.empty());
  }
  const TrainerKind& mlp = kinds.front();
  CHECK(mlp.name == "mlp");
  CHECK(mlp.data == "digits");
  CHECK(mlp.data_digest == "9b9432b97f47a2fb4157bf58b2a8159c1e6c1d242a99d99d3dc150482c6bec0a");
  CHECK(mlp.evaluation_digest == "c4e537445bc590b6a1243ba68d3c5c073010481efcfcf47f1809934e9797009e");
}

TEST_CASE("a worker offers the trainers and the data that it is told to", "[torch]") {
  using Names = std::vector<std::pair<std::string, std::string>>;
  const auto names = [](const std::vector<std::string>& arguments) {
    Names chosen;
    const auto kinds = ChooseTrainers(ParseCommandLine(arguments).value().choice);
    for (const TrainerKind& kind : kinds.value()) chosen.emplace_back(kind.name, kind.data);
    return chosen;
  };
  CHECK(names({"--fd", "3", "--trainer", "synthetic"}) == Names{{"synthetic", ""}});
  CHECK(names({"--trainer", "synthetic", "--trainer", "mlp", "--data", "digits", "--data", "digits", "--fd", "3"}) ==
        Names{{"mlp", "digits"}, {"synthetic", ""}});
  CHECK(ChooseTrainers({.trainers = {"oracle"}}).error().field == "--trainer");
  CHECK(ChooseTrainers({.data = {"/no/such/data"}}).error().field == "--data");
}

TEST_CASE("what a library or a module is to be and is not is refused, naming the file", "[torch]") {
  const test::DataFolder folder;
  folder.Write("garbage.so", "no library");
  const auto refused = [&](const std::string& file) {
    const Error error = ChooseTrainers({.trainers = {file}}).error();
    CHECK(error.field == "--trainer");
    return error.message;
  };
  CHECK_THAT(refused((folder.path / "garbage.so").string()), Catch::Contains("garbage.so"));
  CHECK_THAT(refused("/no/such/file.so"), Catch::Contains("/no/such/file.so"));
  CHECK_THAT(refused("/no/such/file.pt"), Catch::Contains("/no/such/file.pt"));
  folder.Write("mlp.pt", "a module that has a built-in trainer's name");
  CHECK_THAT(ChooseTrainers({.trainers = {"mlp", (folder.path / "mlp.pt").string()}}).error().message,
             Catch::Contains("two trainers 'mlp'"));
}

TEST_CASE("a command line that is none is refused, naming the option") {
  CHECK(ParseCommandLine({"--fd", "12"}).value().fd == 12);
  CHECK(ParseCommandLine({}).error().field == "--fd");
  CHECK(ParseCommandLine({"--fd", "x"}).error().field == "--fd");
  CHECK(ParseCommandLine({"--fd", "3", "--trainer"}).error().field == "--trainer");
  CHECK(ParseCommandLine({"--fd", "3", "--depth", "20"}).error().field == "--depth");
}

TEST_CASE("how many batches are fetched ahead is said as a whole number, or not at all") {
  CHECK(ParsePrefetch("", 4).value() == 4);
  CHECK(ParsePrefetch("0", 4).value() == 0);
  CHECK(ParsePrefetch("17", 4).value() == 17);
  for (const char* wrong : {"x", "-1", "2.5", "3 ", "99999999999999999999"}) {
    CHECK(ParsePrefetch(wrong, 4).error().field == "ESPALIER_PREFETCH");
  }
}

}  // namespace espalier::trainer
