#include "worker/checkpoint/gluster/gluster_location.h"

#include <catch2/catch.hpp>

namespace espalier {

TEST_CASE("a location names servers, a volume and a folder in it") {
  CHECK(IsGlusterLocation("gfapi://host/volume/path"));
  CHECK_FALSE(IsGlusterLocation("/mnt/gfapi://host/volume/path"));
  CHECK(ParseGlusterLocation("gfapi://host/volume/path/of//store/").value() ==
        GlusterLocation{.servers = {{.host = "host"}}, .volume = "volume", .path = "/path/of/store"});
  CHECK(ParseGlusterLocation("gfapi://a,10.0.0.2:24008/v/p").value() ==
        GlusterLocation{.servers = {{.host = "a"}, {.host = "10.0.0.2", .port = 24008}}, .volume = "v", .path = "/p"});
}

TEST_CASE("what names no folder of a volume is refused with what is expected") {
  for (const char* text :
       {"", "host/volume/path", "gfapi://", "gfapi://host", "gfapi://host/volume", "gfapi://host/volume/",
        "gfapi://host/volume/.", "gfapi:///volume/path", "gfapi://host//path", "gfapi://host,/volume/path",
        "gfapi://,host/volume/path", "gfapi://host:/volume/path", "gfapi://host:0/volume/path",
        "gfapi://host:65536/volume/path", "gfapi://host:24007x/volume/path"}) {
    INFO(text);
    const Result<GlusterLocation> location = ParseGlusterLocation(text);
    REQUIRE_FALSE(location.has_value());
    CHECK(location.error().code == ErrorCode::kInvalidArgument);
    CHECK(location.error().message.find("gfapi://HOST") != std::string::npos);
  }
}

}  // namespace espalier
