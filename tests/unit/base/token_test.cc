#include "base/token.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

namespace espalier {
namespace {

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/espalier token XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string File(const std::string& name) const { return path_ / name; }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(File(name)) << text;
    return File(name);
  }
  std::size_t FileCount() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("no two tokens are the same, and each reads back as itself") {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(NewToken());
  CHECK(tokens.size() == 100);
  for (const std::string& token : tokens) {
    REQUIRE(ParseToken(token).has_value());
    CHECK(*ParseToken(" \t" + token + "\r\n") == token);
  }
}

TEST_CASE("what is no token is refused, and not repeated in the message") {
  const std::string token = NewToken();
  for (const std::string& text :
       {std::string(), std::string(" \n"), token + "0", token.substr(1), token.substr(0, token.size() - 1),
        token + "\n" + token, std::string("espalier_") + std::string(64, 'G'), "secret " + token.substr(7)}) {
    const auto parsed = ParseToken(text);
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().code == ErrorCode::kUnauthenticated);
    if (text.size() > 10) CHECK(parsed.error().message.find(text) == std::string::npos);
  }
}

TEST_CASE("a token file is made once, private, with nothing beside it") {
  const Folder folder;
  const std::string file = folder.File("token");
  std::vector<std::string> tokens(8);
  std::vector<std::thread> threads;
  for (std::string& token : tokens) {
    threads.emplace_back([&] { token = ReadOrMakeTokenFile(file).value_or("none"); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(std::set<std::string>(tokens.begin(), tokens.end()).size() == 1);
  CHECK(ReadTokenFile(file) == tokens[0]);
  CHECK(folder.FileCount() == 1);
  struct stat status;
  REQUIRE(stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a file without a token is refused by its name, and left as it is") {
  const Folder folder;
  const std::string file = folder.Write("notes", "nothing of the kind");
  CHECK(ReadTokenFile(file).error().message.find(file) != std::string::npos);
  CHECK(ReadOrMakeTokenFile(file).error().code == ErrorCode::kUnauthenticated);
  CHECK(ReadTokenFile(folder.File("absent")).error().code == ErrorCode::kUnauthenticated);
  CHECK(ReadOrMakeTokenFile(folder.File("no/such/folder")).error().code == ErrorCode::kInternal);
}

}  // namespace espalier
