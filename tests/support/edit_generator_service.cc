// What is changed of the service itself, whatever it trains.
#include "base/digest.h"
#include "tests/support/edit_generator.h"

namespace espalier::master {

void EditGenerator::BringCode() {
  const std::string bytes = Text() + std::string("PK\0\x03", 4) + std::to_string(Below(5));
  const std::string sha256 = Sha256Hex(bytes);
  if (!state_.archives.contains(sha256)) Do(AddArchive{sha256, {.bytes = bytes, .user = Text(), .put_at = Moment()}});
  if (Chance(10)) Do(DropArchive{state_.archives.begin()->first});
  const TrainerReference reference{.entry = Text(),
                                   .archive = Chance(80) ? sha256 : std::string(),
                                   .python = Text(),
                                   .client = {.path = Text(), .machine = Text(), .uid = Below(3)},
                                   .folder = Text(),
                                   .data = {Text(), Text()},
                                   .data_seen = Text(),
                                   .environment = {{"A", Text()}, {"B", "x=y"}},
                                   .user = Text(),
                                   .team = Text()};
  if (!state_.references.contains(DigestOf(reference))) Do(AddReference{reference});
  const CheckKey key{DigestOf(Text()), Text()};
  const CheckFinding finding{static_cast<CheckOutcome>(Below(3)), Text()};
  if (!state_.check_findings.contains(key)) Do(AddCheckFinding{key, finding, Moment()});
}

void EditGenerator::ChangeUser() {
  User user{.name = "user" + std::to_string(Below(4)), .team = "team" + Text()};
  if (Chance(50)) user.role = Role::kAdministrator;
  if (Chance(20)) user = {.name = "node" + Text(), .team = "", .role = Role::kNode, .servers = {"gpu-*", Text()}};
  if (Chance(80)) user.token_sha256 = Sha256Hex(std::to_string(random_()));
  Do(SetUser{user});
}

void EditGenerator::ChangeDrain() {
  std::optional<Drain> drain;
  if (Chance(60)) drain = Drain{.by = Text(), .why = Text(), .since = Moment()};
  Do(SetDrain{"server" + std::to_string(Below(3)), std::move(drain)});
}

void EditGenerator::ChangeDue() {
  Do(SetWeight{.team = "team" + std::to_string(Below(3)), .weight = 0.25 * static_cast<double>(1 + Below(9))});
  const Party party{Chance(50) ? Party::Kind::kTeam : Party::Kind::kUser, "party" + std::to_string(Below(3))};
  const auto limit = [&] { return Chance(50) ? std::optional<std::int64_t>(Below(1000)) : std::nullopt; };
  Do(SetQuota{party, {limit(), limit(), limit(), Chance(50) ? std::optional(Seconds(0.5)) : std::nullopt}});
}

void EditGenerator::ChoosePolicy() {
  const std::vector<KnownPolicy> known = KnownPolicies();
  const KnownPolicy& any = known[static_cast<std::size_t>(Below(static_cast<int>(known.size())))];
  Do(SetPolicy{{.name = std::string(any.name), .by = Text(), .at = Moment()}});
}

}  // namespace espalier::master
