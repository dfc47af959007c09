#include <catch2/catch.hpp>
#include <set>

#include "tests/support/temporary_folder.h"
#include "worker/checkpoint/checkpoint_format.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

const worker::CheckpointIdentity kIdentity{.run = {LeadershipId{(std::int64_t{1} << 60) + 1}, RunId{5}},
                                           .plan = PlanId{1},
                                           .point = {PlanNodeId{2}, Step{3}},
                                           .lineage = DigestOf("lineage")};

TrainingState SomeState() {
  std::string floats(24, '\0');
  for (std::size_t i = 0; i < floats.size(); ++i)
    floats[i] = static_cast<char>(0xf8 + i);  // NaNs with payloads among them
  return {{"a", {.type = "F32", .shape = {2, 3}, .bytes = floats}},
          {"double", {.type = "F64", .shape = {3}, .bytes = floats}},
          {"empty", {.type = "F32", .shape = {0, 4}, .bytes = {}}},
          {"half", {.type = "BF16", .shape = {12}, .bytes = floats}},
          {"bits", {.type = "BOOL", .shape = {2}, .bytes = std::string("\1\0", 2)}},
          {"number", WholeNumber(-5)},
          {"text", Text("any text")}};
}

void Write(const fs::path& path, const TrainingState& state = SomeState()) {
  REQUIRE(WriteCheckpointFile(path, kIdentity, state).has_value());
}

std::string ReasonOfAbsence(const fs::path& path) {
  const auto file = ReadCheckpointFile(path);
  const auto head = CheckCheckpointFile(path);
  REQUIRE_FALSE(file.has_value());
  REQUIRE_FALSE(head.has_value());
  CHECK(file.error().code == ErrorCode::kNotFound);
  CHECK(head.error() == file.error());
  return file.error().message;
}

}  // namespace

TEST_CASE("a checkpoint file reads back as it was written, bit for bit, and leaves no temporary") {
  const TemporaryFolder folder;
  const TrainingState large{{"large", {.type = "U8", .shape = {3 << 20}, .bytes = std::string(3 << 20, '\xff')}},
                            {"small", WholeNumber(1)}};
  for (const TrainingState& state : {TrainingState(), SomeState(), large}) {
    const WrittenCheckpoint written = WriteCheckpointFile(folder / "a", kIdentity, state).value();
    CHECK(written.state_sha256 == Sha256Of(state));
    CHECK(written.bytes == static_cast<std::int64_t>(fs::file_size(folder / "a")));
    const CheckpointFile file = ReadCheckpointFile(folder / "a").value();
    CHECK(file.head.identity == kIdentity);
    CHECK(file.head.state_sha256 == written.state_sha256);
    CHECK((file.state == state));
    CHECK(CheckCheckpointFile(folder / "a").value().identity == kIdentity);
    CHECK(folder.Names() == Names{"a"});
  }
  CHECK(ReadWholeNumber(SomeState(), "number") == -5);
}

TEST_CASE("the bytes of a checkpoint file are the same in every release, and a safetensors file's") {
  const TemporaryFolder folder;
  Write(folder / "a", {{"b", {.type = "U8", .shape = {2}, .bytes = "xy"}}, {"n", WholeNumber(1)}});
  const std::string bytes = Bytes(folder / "a");
  const std::string head =
      R"({"__metadata__":{"espalier.head_sha256":"17f9e33825d14dd2454b7a00764058a1eb05b45063ae7d3b9fbd69923c2d3a08",)"
      R"("espalier.identity":"{\"leadershipId\":\"1152921504606846977\",\"lineageDigest\":\"97028c44d7f89638ac2fa7b37aac5ce8\",)"
      R"(\"planId\":1,\"planNodeId\":2,\"runId\":5,\"step\":3}",)";
  CHECK(bytes.substr(8, head.size()) == head);
  const std::size_t head_bytes = bytes.size() - 18;
  CHECK(static_cast<unsigned char>(bytes[0]) + 256 * static_cast<unsigned char>(bytes[1]) ==
        static_cast<int>(head_bytes));
  CHECK(bytes.substr(2, 6) == std::string(6, '\0'));
  CHECK(head_bytes % 8 == 0);
  CHECK(bytes.substr(bytes.size() - 10) == std::string("xy\1\0\0\0\0\0\0\0", 10));
}

TEST_CASE("a checkpoint file with any byte flipped counts as absent") {
  const TemporaryFolder folder;
  Write(folder / "a");
  const std::string whole = Bytes(folder / "a");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    Overwrite(folder / "a", damaged);
    INFO("byte " << i);
    // A space behind the head is the only byte that may be another.
    if (whole[i] == ' ' && CheckCheckpointFile(folder / "a").has_value()) continue;
    ReasonOfAbsence(folder / "a");
  }
}

TEST_CASE("a checkpoint file cut at any length, or with bytes behind it, counts as absent") {
  const TemporaryFolder folder;
  Write(folder / "a");
  const std::string whole = Bytes(folder / "a");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    Overwrite(folder / "a", whole.substr(0, length));
    INFO("length " << length);
    ReasonOfAbsence(folder / "a");
  }
  Overwrite(folder / "a", whole + "x");
  CHECK_THAT(ReasonOfAbsence(folder / "a"), Catch::Contains("damaged"));
}

TEST_CASE("a missing file, a foreign file and another version count as absent, and the message says which") {
  const TemporaryFolder folder;
  CHECK_THAT(ReasonOfAbsence(folder / "a"), Catch::Contains("No such file"));
  Overwrite(folder / "a", std::string(100, 'x'));
  CHECK_THAT(ReasonOfAbsence(folder / "a"), Catch::Contains("foreign"));
  Overwrite(folder / "a", std::string("\2\0\0\0\0\0\0\0{}", 10));  // a safetensors file of nobody's
  CHECK_THAT(ReasonOfAbsence(folder / "a"), Catch::Contains("foreign"));
  Write(folder / "a");
  std::string bytes = Bytes(folder / "a");
  const std::string version = R"("espalier.version":")";
  bytes[bytes.find(version) + version.size()] = '2';
  Overwrite(folder / "a", bytes);
  CHECK_THAT(ReasonOfAbsence(folder / "a"), Catch::Contains("version"));
}

TEST_CASE("a checkpoint file that cannot be written is an error that names it, and leaves nothing") {
  const TemporaryFolder folder;
  const auto written = WriteCheckpointFile(folder / "missing/a", kIdentity, SomeState());
  REQUIRE_FALSE(written.has_value());
  CHECK(written.error().code == ErrorCode::kInternal);
  CHECK_THAT(written.error().message, Catch::Contains("missing/a") && Catch::Contains("No such file"));
  fs::create_directory(folder / "b");
  CHECK_FALSE(WriteCheckpointFile(folder / "b", kIdentity, SomeState()).has_value());
  for (const StateArray& wrong :
       {StateArray{"F32", {2}, "xy"}, StateArray{"F7", {1}, "x"}, StateArray{"U8", {-1}, ""}}) {
    CHECK_FALSE(WriteCheckpointFile(folder / "c", kIdentity, {{"wrong", wrong}}).has_value());
  }
  CHECK(folder.Names().empty());
}

TEST_CASE("the digest of a state is the same in every release, and differs with every part") {
  CHECK(Sha256Of({}) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(Sha256Of({{"b", WholeNumber(1)}, {"a", {.type = "U8", .shape = {1, 2}, .bytes = "xy"}}}) ==
        Sha256Hex(std::string("a\0U8\0001,2\0xyb\0I64\0\0\1\0\0\0\0\0\0\0", 26)));
  std::set<std::string> digests{Sha256Of(SomeState())};
  for (const auto& [name, array] : SomeState()) {
    TrainingState other = SomeState();
    other.erase(name);
    digests.insert(Sha256Of(other));
    other[name + "_"] = array;
    digests.insert(Sha256Of(other));
    other = SomeState();
    other[name].type += "_";
    digests.insert(Sha256Of(other));
    other = SomeState();
    other[name].shape.push_back(1);
    digests.insert(Sha256Of(other));
    other = SomeState();
    other[name].bytes += '\0';
    digests.insert(Sha256Of(other));
  }
  CHECK(digests.size() == 1 + 5 * SomeState().size());
}

TEST_CASE("a checkpoint file that cannot be read now is not absent") {
  const TemporaryFolder folder;
  CHECK(CheckCheckpointFile(folder.path()).error().code ==
        ErrorCode::kUnavailable);  // a folder opens, and does not read
  CHECK(ReadCheckpointFile(folder.path()).error().code == ErrorCode::kUnavailable);
}

}  // namespace espalier
