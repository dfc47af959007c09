// Trainers of the user's own, and his data, as study files name them.
#include <catch2/catch.hpp>
#include <fstream>

#include "client/study_file/study_file.h"
#include "tests/support/temporary_folder.h"

namespace espalier {
namespace {

// Where a study file lies, beside what it names.
struct StudyFolder {
  StudyFolder() {
    for (const char* file : {"train.py", "libnet.so", "net.pt"}) std::ofstream(folder.path() / file) << "\n";
    for (const char* data : {"mnist", "digits"}) std::filesystem::create_directories(folder.path() / data);
  }

  std::string Path(const std::string& name) const { return (folder.path() / name).string(); }

  tl::expected<StudyFile, FileError> Parse(const std::string& trainer, const std::string& more) const {
    return ParseStudyFile(Path("f.yaml"), "study: s\ntrainer: " + trainer + "\n" + more +
                                              "metric: {name: acc, goal: max}\ntuner: {grid: {steps: 80}}\n");
  }
  StudyFile Read(const std::string& trainer, const std::string& more = {}) const {
    return Parse(trainer, more).value();
  }
  // Empty: there is none.
  std::string Mistake(const std::string& trainer, const std::string& more = {}) const {
    const auto file = Parse(trainer, more);
    return file.has_value() ? std::string() : file.error().field + ": " + file.error().message;
  }

  TemporaryFolder folder;
};

}  // namespace

TEST_CASE("a trainer in the user's own code is found from the study file's folder, and part of the definition") {
  const StudyFolder in;
  for (const char* trainer : {"train.py:Digits", "python:train.py:Digits", "./train.py:Digits"}) {
    const StudyFile file = in.Read(trainer);
    REQUIRE(file.code.has_value());
    CHECK(file.code->entry == Entry{EntryKind::kPython, in.Path("train.py"), "Digits"});
    CHECK(file.code->python.empty());
  }
  const StudyFile named = in.Read("train.py:Digits", "python: torch\nenvironment: {MODE: 1}\n");
  CHECK(named.code->python == "torch");
  CHECK(named.code->environment == std::map<std::string, std::string>{{"MODE", "1"}});
  CHECK(in.Read("train.py:Digits", "python: venv/bin/python\n").code->python == in.Path("venv/bin/python"));
  CHECK(named.specification.definition != in.Read("train.py:Digits").specification.definition);
}

TEST_CASE("a trainer may be in a library or a module, or what a line starts in the study file's folder") {
  const StudyFolder in;
  CHECK(in.Read("library:libnet.so").code->entry == Entry{EntryKind::kLibrary, in.Path("libnet.so"), ""});
  CHECK(in.Read("library:libnet.so:lenet").code->entry == Entry{EntryKind::kLibrary, in.Path("libnet.so"), "lenet"});
  CHECK(in.Read("torchscript:net.pt").code->entry == Entry{EntryKind::kTorchScript, in.Path("net.pt"), ""});
  const StudyFile line = in.Read("\"command:./worker --fast\"");
  CHECK(line.code->entry == Entry{EntryKind::kCommand, "", "./worker --fast"});
  CHECK(line.code->folder == in.folder.path().string());
  CHECK_THAT(in.Mistake("library:libother.so"), Catch::StartsWith("trainer: expected library:FILE.so"));
  CHECK_THAT(in.Mistake("library:net.pt"), Catch::StartsWith("trainer: expected library:FILE.so"));
  CHECK_THAT(in.Mistake("torchscript:libnet.so"), Catch::StartsWith("trainer: expected torchscript:FILE.pt"));
  CHECK_THAT(in.Mistake("\"command: \""), Catch::StartsWith("trainer: expected command:LINE"));
  CHECK_THAT(in.Mistake("library:libnet.so", "environment: {A: b}\n"),
             Catch::StartsWith("environment: is for a trainer"));
}

TEST_CASE("data is a folder where it names one, but for the name of what is built in") {
  const StudyFolder in;
  for (const char* data : {"mnist", "./mnist", "mnist/", "mnist/../mnist"}) {
    INFO(data);
    const StudyFile file = in.Read("resnet", std::string("data: ") + data + "\n");
    CHECK(file.code->entry == Entry{EntryKind::kBuiltIn, "", "resnet"});
    CHECK(file.code->data == in.Path("mnist"));
    CHECK(file.specification.data == in.Path("mnist"));
  }
  CHECK(in.Read("library:libnet.so", "data: mnist\n").code->data == in.Path("mnist"));
  CHECK(in.Read("library:libnet.so", "data: digits\n").code->data.empty());
  CHECK_FALSE(in.Read("resnet", "data: digits\n").code.has_value());
}

}  // namespace espalier
