// Tokens: the secrets by which the master knows its callers. A token is "espalier_" and 256 random bits as 64
// hexadecimal digits. It travels as the metadata `authorization: Bearer TOKEN` of each call; what is stored is its
// SHA-256 alone, which needs no salt, since nobody can guess so many bits.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier {

inline constexpr std::string_view kTokenMetadata = "authorization";
inline constexpr std::string_view kTokenScheme = "Bearer ";

// From the kernel's random numbers.
std::string NewToken();

// The token without white space around it. Error: kUnauthenticated when the text is no token; does not repeat it.
Result<std::string> ParseToken(std::string_view text);

// A file that holds a token and nothing else. Error: kUnauthenticated, with the file's name.
Result<std::string> ReadTokenFile(const std::string& path);

// As ReadTokenFile, but a file that is not there is made first, with a new token, readable by this user alone (0600).
// Several processes may do so at once: they all get the same token. Error: also kInternal.
Result<std::string> ReadOrMakeTokenFile(const std::string& path);

}  // namespace espalier
