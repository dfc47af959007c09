#include "worker/checkpoint/gluster/gluster_location.h"

#include <charconv>
#include <filesystem>
#include <optional>

namespace espalier {
namespace {

constexpr std::string_view kScheme = "gfapi://";
constexpr int kPortMax = 65535;

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

std::optional<int> ParsePort(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > kPortMax) return std::nullopt;
  return port;
}

std::optional<GlusterServer> ParseServer(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, ':');
  if (parts.size() > 2 || parts[0].empty()) return std::nullopt;
  GlusterServer server{.host = std::string(parts[0])};
  if (parts.size() == 1) return server;
  const std::optional<int> port = ParsePort(parts[1]);
  if (!port.has_value()) return std::nullopt;
  server.port = *port;
  return server;
}

// Absolute, without a slash at its end; "/" for the root.
std::string PathOf(std::string_view text) {
  std::string path = std::filesystem::path("/" + std::string(text)).lexically_normal().generic_string();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

bool IsGlusterLocation(std::string_view text) { return text.starts_with(kScheme); }

Result<GlusterLocation> ParseGlusterLocation(std::string_view text) {
  const auto wrong = MakeError(ErrorCode::kInvalidArgument, "'" + std::string(text) +
                                                                "' names no folder of a GlusterFS volume: expected "
                                                                "gfapi://HOST[:PORT][,HOST...]/VOLUME/PATH");
  if (!IsGlusterLocation(text)) return wrong;
  const std::string_view rest = text.substr(kScheme.size());
  const std::size_t servers_end = rest.find('/');
  const std::size_t volume_end = servers_end == std::string_view::npos ? servers_end : rest.find('/', servers_end + 1);
  if (volume_end == std::string_view::npos) return wrong;
  GlusterLocation location{.servers = {},
                           .volume = std::string(rest.substr(servers_end + 1, volume_end - servers_end - 1)),
                           .path = PathOf(rest.substr(volume_end))};
  for (const std::string_view part : Split(rest.substr(0, servers_end), ',')) {
    const std::optional<GlusterServer> server = ParseServer(part);
    if (!server.has_value()) return wrong;
    location.servers.push_back(*server);
  }
  if (location.volume.empty() || location.path == "/") return wrong;
  return location;
}

}  // namespace espalier
