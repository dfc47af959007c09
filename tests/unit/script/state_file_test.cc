// A program's file, kept as a checkpoint file, and back.
#include "worker/script/state_file.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "tests/support/temporary_folder.h"
#include "worker/checkpoint/safetensors.h"

namespace espalier::script {
namespace {

const worker::CheckpointIdentity kIdentity{.run = {LeadershipId{4}, RunId{5}},
                                           .plan = PlanId{1},
                                           .point = {PlanNodeId{2}, Step{3}},
                                           .lineage = DigestOf("lineage")};

struct Kept {
  TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "file";
  std::filesystem::path checkpoint = folder.path() / "checkpoint";
  std::filesystem::path again = folder.path() / "again";

  WrittenCheckpoint Write(const std::string& bytes, bool is_safetensors) {
    std::ofstream(file, std::ios::binary) << bytes;
    return WriteState(checkpoint, kIdentity, file, is_safetensors, "ann's").value();
  }
  std::string Back() {
    CHECK(ReadState(checkpoint, again, "ann's").value() == Step{3});
    std::ostringstream text;
    text << std::ifstream(again, std::ios::binary).rdbuf();
    return text.str();
  }
};

// Two arrays, not in the order of their names.
std::string SafetensorsFile(const std::string& metadata) {
  const std::string head = R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)" + metadata +
                           R"("a":{"dtype":"U8","shape":[],"data_offsets":[2,3]}})";
  std::string length(8, '\0');
  length[0] = static_cast<char>(head.size());
  return length + head + "bba";
}

}  // namespace

TEST_CASE("a file of any kind is kept as its bytes, and comes back as it was") {
  Kept kept;
  const std::string bytes("any\0thing", 9);
  CHECK(kept.Write(bytes, false).bytes > 0);
  CHECK(kept.Back() == bytes);
  CHECK(CheckCheckpointFile(kept.checkpoint).value().identity == kIdentity);
}

TEST_CASE("of a safetensors file the arrays are kept, and its metadata; equal ones have equal digests") {
  Kept kept;
  const WrittenCheckpoint written = kept.Write(SafetensorsFile(R"("__metadata__":{"format":"pt"},)"), true);
  const std::string back = kept.Back();
  const Safetensors read = ReadSafetensors(back).value();
  CHECK(read.arrays.at("a").bytes == "a");
  CHECK(read.arrays.at("b").bytes == "bb");
  CHECK(read.arrays.size() == 2);
  CHECK(read.metadata == SafetensorsMetadata{{"format", "pt"}});
  CHECK(kept.Write(back, true).state_sha256 == written.state_sha256);
  CHECK(kept.Write(SafetensorsFile(""), true).state_sha256 != written.state_sha256);
}

TEST_CASE("another training's state is refused, as is a damaged one") {
  Kept kept;
  kept.Write("state", false);
  const auto others = ReadState(kept.checkpoint, kept.again, "bob's");
  CHECK(others.error().code == ErrorCode::kNotFound);
  CHECK(others.error().message.find("of another training: ann's, here bob's") != std::string::npos);
  CHECK(ReadState(kept.checkpoint, kept.again, std::nullopt).has_value());
  std::filesystem::resize_file(kept.checkpoint, std::filesystem::file_size(kept.checkpoint) - 1);
  CHECK(ReadState(kept.checkpoint, kept.again, "ann's").error().code == ErrorCode::kNotFound);
}

TEST_CASE("what is said to be a safetensors file is looked at, and told what is wrong with it") {
  Kept kept;
  const auto why = [&](const std::string& bytes) {
    std::ofstream(kept.file, std::ios::binary | std::ios::trunc) << bytes;
    const Result<void> checked = CheckProgramFile(kept.file, true);
    return checked.has_value() ? "" : checked.error().message;
  };
  CHECK(why(SafetensorsFile("")).empty());
  CHECK(why("short").find("length of a head") != std::string::npos);
  CHECK(why("this is a pickle").find("length of a head") != std::string::npos);
  CHECK(why(SafetensorsFile("") + "more").find("its length") != std::string::npos);
  CHECK(why(SafetensorsFile(R"("c":{"dtype":"F9","shape":[],"data_offsets":[0,0]},)")).find("F9") != std::string::npos);
  CHECK(why(SafetensorsFile(R"("c":{"dtype":"U8","shape":[9],"data_offsets":[0,9]},)")).find("does not lie") !=
        std::string::npos);
  CHECK(why(SafetensorsFile(R"("espalier.x":{"dtype":"U8","shape":[0],"data_offsets":[3,3]},)"))
            .find("the service's own") != std::string::npos);
  CHECK(CheckProgramFile(kept.folder.path(), false).error().message.find("no plain file") != std::string::npos);
}

}  // namespace espalier::script
