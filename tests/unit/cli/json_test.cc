#include "client/json.h"

#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <sstream>

namespace espalier {

TEST_CASE("a document is written as it was put together, its keys in their order") {
  Json document = Json::Object({{"name", "lr \"fast\"\n"}, {"best", nullptr}, {"active", true}});
  document.Add("steps", Json::ArrayOf(std::vector<std::int64_t>{3, -1}));
  document.Add("metrics", Json::Sorted(std::map<std::string, double>{{"loss", 1}, {"acc", 0.1}}));
  Json trials = Json::Array();
  trials.Append(Json::Object({{"id", 7}}));
  document.Add("trials", std::move(trials));
  CHECK(CompactJson(document) ==
        R"({"name":"lr \"fast\"\n","best":null,"active":true,"steps":[3,-1],"metrics":{"acc":0.1,"loss":1.0},)"
        R"("trials":[{"id":7}]})");
  std::ostringstream out;
  PrintJson(out, Json::Object({{"trials", Json::Array({1, 2})}, {"none", Json::Array()}}));
  CHECK(out.str() == "{\n  \"trials\": [\n    1,\n    2\n  ],\n  \"none\": []\n}\n");
}

TEST_CASE("numbers in a document come back as the same bits; what JSON cannot say becomes null or a replacement") {
  CHECK(CompactJson(Json::Array({0.1 + 0.2, 1e-300, 1e22, -0.0, std::numeric_limits<std::int64_t>::max()})) ==
        "[0.30000000000000004,1e-300,1e+22,-0.0,9223372036854775807]");
  CHECK(CompactJson(Json::Array({std::numeric_limits<double>::quiet_NaN(), "\xff"})) == "[null,\"\xEF\xBF\xBD\"]");
}

}  // namespace espalier
