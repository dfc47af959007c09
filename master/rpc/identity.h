// Who calls. On a service of one user everybody who reaches its socket is that user.
#pragma once

namespace espalier {

inline constexpr char kLocalUser[] = "local";
inline constexpr char kLocalTeam[] = "local";

}  // namespace espalier
