// What plans and nodes are found by, and checkpoint files carry: frozen, since databases and files outlive releases.
#include <catch2/catch.hpp>

#include "searchplan/plan/search_plan.h"

namespace espalier {
namespace {

PlanIdentity Identity() {
  TrainingIdentity training{.trainer = "mlp",
                            .code_digest = "code",
                            .data = "digits",
                            .data_digest = "data",
                            .step = {},
                            .schema = {{{.name = "bs", .type = ValueType::kInteger, .default_value = std::int64_t{32}},
                                        {.name = "lr", .type = ValueType::kFloating, .default_value = 0.1}}}};
  return {.training = training, .device_kind = "cpu", .sharing = {.scope = Scope::kTeam, .team = "team"}};
}

Configuration Rates(std::int64_t batch, Function rate) { return {{{Constant{batch}, Step{0}}, std::move(rate)}}; }

// A root, a child that leaves it at 40, and one that leaves this at 60.
std::vector<std::string> LineagesUnder(const PlanIdentity& identity) {
  SearchPlan plan;
  plan.identity = identity;
  std::vector<std::string> lineages;
  std::optional<PlanNodeId> parent;
  const auto add = [&](std::int64_t id, Step start, const Configuration& configuration) {
    PlanNode node;
    node.id = PlanNodeId{id};
    node.parent = parent;
    node.start = start;
    node.configuration = configuration;
    node.lineage = LineageDigest(plan, parent, start, node.configuration);
    lineages.push_back(ToHex(node.lineage));
    plan.nodes.Add(std::move(node));
    parent = PlanNodeId{id};
  };
  add(1, Step{0}, Rates(32, {Constant{0.1}, Step{0}}));
  add(2, Step{40}, Rates(32, {Exponential{0.1, 0.95}, Step{40}}));
  add(3, Step{60}, Rates(64, {Exponential{0.1, 0.95}, Step{40}}));
  return lineages;
}

}  // namespace

TEST_CASE("digests of plans' identities are the same in every release", "[golden]") {
  PlanIdentity identity = Identity();
  CHECK(ToHex(DigestOf(identity)) == "1fa52c2115d80f5298a925469b549e8b");
  identity.sharing = {.scope = Scope::kEveryone};
  CHECK(ToHex(DigestOf(identity)) == "9275b2dd80349494f048dff1a2e0ed18");
  identity.sharing = {.scope = Scope::kStudy, .study = StudyId{7}};
  CHECK(ToHex(DigestOf(identity)) == "15fa9d4ecd0c5b3f13899363a47bb9be");
  identity.sharing = {.scope = Scope::kNobody, .study = StudyId{7}, .trial = TrialId{8}};
  CHECK(ToHex(DigestOf(identity)) == "474c13f03015064b3c7ba95382b5d20f");
  CHECK(ToHex(DigestOf(PlanIdentity{})) == "ee2f7be1722688d8b4da594efb8f6e00");
}

TEST_CASE("digests of lineages are the same in every release", "[golden]") {
  CHECK(LineagesUnder(Identity()) == std::vector<std::string>{"924885c82902ac6c6f114377413384cb",
                                                              "06d3c37143553777155e445ce05b1b18",
                                                              "a7b5d63642e36a08134874878b5e37c0"});
}

TEST_CASE("every part of a plan's identity tells its plans and lineages apart") {
  const auto change = [](const auto& edit) {
    PlanIdentity identity = Identity();
    edit(identity);
    return identity;
  };
  const std::vector<PlanIdentity> identities = {
      Identity(),
      change([](PlanIdentity& of) { of.training.trainer = "resnet"; }),
      change([](PlanIdentity& of) { of.training.code_digest = "other"; }),
      change([](PlanIdentity& of) { of.training.data = "mnist"; }),
      change([](PlanIdentity& of) { of.training.data_digest = "other"; }),
      change([](PlanIdentity& of) { of.training.schema.takes_any = true; }),
      change([](PlanIdentity& of) { of.training.schema.hyper_parameters[0].initial = true; }),
      change([](PlanIdentity& of) { of.training.schema.hyper_parameters[1].default_value = 0.2; }),
      change([](PlanIdentity& of) { of.device_kind = "gpu"; }),
      change([](PlanIdentity& of) { of.sharing.team = "others"; }),
      change([](PlanIdentity& of) { of.sharing.scope = Scope::kEveryone; }),
      change([](PlanIdentity& of) { of.sharing.study = StudyId{1}; }),
      change([](PlanIdentity& of) { of.sharing.trial = TrialId{1}; }),
  };
  std::set<Digest128> plans;
  std::set<std::string> lineages;
  for (const PlanIdentity& identity : identities) {
    plans.insert(DigestOf(identity));
    for (const std::string& lineage : LineagesUnder(identity)) lineages.insert(lineage);
  }
  CHECK(plans.size() == identities.size());
  CHECK(lineages.size() == 3 * identities.size());
}

}  // namespace espalier
