#include "protocol/trainer_reference.h"

#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "proto/convert_trainer_reference.h"

namespace espalier {
namespace {

TrainerReference SomeReference() {
  return {.entry = "train.py:Digits",
          .archive = std::string(64, 'a'),
          .python = "torch",
          .client = {.path = "/usr/bin/python3", .machine = "machine", .uid = 1000},
          .folder = "/home/ann/digits",
          .data = {"digits.csv", "images/train"},
          .data_seen = "digest",
          .environment = {{"MODE", "fast"}, {"OTHER", ""}},
          .user = "ann",
          .team = "vision"};
}

using Change = std::function<void(TrainerReference&)>;

// Of the error; empty if there is none.
std::string FieldRefused(const Change& change) {
  TrainerReference reference = SomeReference();
  change(reference);
  const auto checked = Check(reference);
  if (checked.has_value()) return {};
  CHECK(checked.error().code == ErrorCode::kInvalidArgument);
  return checked.error().field;
}

}  // namespace

TEST_CASE("whatever a reference says makes it another one") {
  const std::vector<Change> changes = {[](TrainerReference&) {},
                                       [](TrainerReference& of) { of.entry = "train.py:Other"; },
                                       [](TrainerReference& of) { of.archive = std::string(64, 'b'); },
                                       [](TrainerReference& of) { of.python = ""; },
                                       [](TrainerReference& of) { of.client.path = "/bin/python3"; },
                                       [](TrainerReference& of) { of.client.machine = "other"; },
                                       [](TrainerReference& of) { of.client.uid = 0; },
                                       [](TrainerReference& of) { of.folder = "/home/ann"; },
                                       [](TrainerReference& of) { of.data.pop_back(); },
                                       [](TrainerReference& of) { of.data_seen = "other"; },
                                       [](TrainerReference& of) { of.environment["MODE"] = "slow"; },
                                       [](TrainerReference& of) { of.environment.erase("OTHER"); },
                                       [](TrainerReference& of) { of.user = "bob"; },
                                       [](TrainerReference& of) { of.team = "speech"; }};
  std::set<Digest128> digests;
  for (const Change& change : changes) {
    TrainerReference reference = SomeReference();
    change(reference);
    digests.insert(DigestOf(reference));
  }
  CHECK(digests.size() == changes.size());
  // Stored, and told to servers: never to be changed.
  CHECK(ToHex(DigestOf(SomeReference())) == "a1e3abf1128d1fc23de3152b7d2c0653");
}

TEST_CASE("a reference comes back as it was sent") { CHECK(FromProto(ToProto(SomeReference())) == SomeReference()); }

TEST_CASE("an entry says of what kind it is") {
  const std::vector<std::pair<std::string, Entry>> entries = {
      {"train.py:Digits", {EntryKind::kPython, "train.py", "Digits"}},
      {"script:train.sh", {EntryKind::kScript, "train.sh", ""}},
      {"library:libnet.so", {EntryKind::kLibrary, "libnet.so", ""}},
      {"library:libnet.so:lenet", {EntryKind::kLibrary, "libnet.so", "lenet"}},
      {"torchscript:net.pt", {EntryKind::kTorchScript, "net.pt", ""}},
      {"command:./worker --rate=0.1", {EntryKind::kCommand, "", "./worker --rate=0.1"}},
      {"built-in:resnet", {EntryKind::kBuiltIn, "", "resnet"}}};
  for (const auto& [text, entry] : entries) {
    CHECK(ParseEntry(text) == entry);
    CHECK(Print(entry) == text);
  }
}

TEST_CASE("of what travels to no server there is no archive, and of the service's own worker one data set at most") {
  const auto of = [](const std::string& entry, const std::string& archive, const Change& change = {}) {
    return FieldRefused([&](TrainerReference& reference) {
      reference.entry = entry;
      reference.archive = archive;
      reference.data = {"mnist"};
      reference.environment.clear();
      if (change) change(reference);
    });
  };
  const std::string some(64, 'a');
  for (const char* entry : {"built-in:resnet", "command:./worker"}) {
    CHECK(of(entry, "").empty());
    CHECK(of(entry, some) == "archive");
  }
  for (const char* entry : {"library:libnet.so", "torchscript:net.pt"}) {
    CHECK(of(entry, some).empty());
    CHECK(of(entry, "") == "archive");
    CHECK(of(entry, some, [](TrainerReference& reference) { reference.data = {"a", "b"}; }) == "data");
    CHECK(of(entry, some, [](TrainerReference& reference) { reference.environment = {{"A", "b"}}; }) == "environment");
  }
}

TEST_CASE("a reference that no server could make anything of is refused with the field") {
  CHECK(FieldRefused([](TrainerReference&) {}).empty());
  for (const char* entry : {"script:",
                            "script:a/train.sh",
                            "script:..",
                            "",
                            "train.py",
                            "train.py:",
                            ":Digits",
                            "/train.py:Digits",
                            "../train.py:Digits",
                            "a/../../train.py:Digits",
                            "a//train.py:Digits",
                            "train.py\n:Digits",
                            "library:../libnet.so",
                            "library:/tmp/libnet.so",
                            "library:net",
                            "torchscript:net.so",
                            "command:",
                            "command:  ",
                            "built-in:",
                            "built-in:/tmp/x.so",
                            "built-in:x.so"}) {
    CHECK(FieldRefused([&](TrainerReference& of) { of.entry = entry; }) == "trainer");
  }
  CHECK(FieldRefused([](TrainerReference& of) { of.archive = "abc"; }) == "archive");
  CHECK(FieldRefused([](TrainerReference& of) { of.archive = std::string(64, 'X'); }) == "archive");
  CHECK(FieldRefused([](TrainerReference& of) { of.python = std::string(5000, 'x'); }) == "python");
  CHECK(FieldRefused([](TrainerReference& of) { of.folder = "digits"; }) == "folder");
  for (const char* path : {"", ".", "..", "/etc", "a/..", "../digits.csv", "a\nb"}) {
    CHECK(FieldRefused([&](TrainerReference& of) { of.data = {path}; }) == "data");
  }
  CHECK(FieldRefused([](TrainerReference& of) { of.data.assign(1001, "x"); }) == "data");
  for (const char* name : {"", "1A", "A B", "A=B", "ESPALIER_WORKER"}) {
    CHECK(FieldRefused([&](TrainerReference& of) { of.environment = {{name, "x"}}; }) == "environment");
  }
  CHECK(FieldRefused([](TrainerReference& of) { of.environment = {{"A", "\xff"}}; }) == "environment");
}

}  // namespace espalier
