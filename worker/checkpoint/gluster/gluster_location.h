// Where a checkpoint store lies in a GlusterFS volume, as configuration files say it.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace espalier {

// Of a glusterd, which says where the bricks are.
struct GlusterServer {
  std::string host;
  int port = 24007;
  friend auto operator<=>(const GlusterServer&, const GlusterServer&) = default;
};

// gfapi://HOST[:PORT][,HOST[:PORT]]/VOLUME/PATH
struct GlusterLocation {
  std::vector<GlusterServer> servers;  // at least one; whoever connects asks them in this order
  std::string volume;
  std::string path;  // begins with a slash, has none at its end; not the volume's root
  friend bool operator==(const GlusterLocation&, const GlusterLocation&) = default;
};

// Whether the text names a GlusterFS volume, rightly or not.
bool IsGlusterLocation(std::string_view text);

// Error: kInvalidArgument.
Result<GlusterLocation> ParseGlusterLocation(std::string_view text);

}  // namespace espalier
