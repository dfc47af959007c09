#include "master/core/state/quota.h"

#include "base/enum_names.h"

namespace espalier::master {
namespace {

constexpr EnumName<Party::Kind> kPartyKinds[] = {{Party::Kind::kTeam, "team"}, {Party::Kind::kUser, "user"}};

}  // namespace

std::string_view Name(Party::Kind kind) { return NameIn(kPartyKinds, kind); }

Result<Party::Kind> ParsePartyKind(std::string_view name) { return ParseIn(kPartyKinds, name); }

std::string PartyName(const Party& party) { return std::string(Name(party.kind)) + " " + party.name; }

}  // namespace espalier::master
