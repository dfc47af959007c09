// Whose code a server runs, and by which interpreter.
#include "worker/node/user_code.h"

#include <catch2/catch.hpp>

namespace espalier::node {
namespace {

const TrainerReference kAnns{.entry = "train.py:Digits",
                             .archive = {},
                             .python = {},
                             .client = {.path = "/bin/sh", .machine = "here", .uid = 7},
                             .folder = "/home/ann",
                             .data = {"digits.csv"},
                             .data_seen = {},
                             .environment = {{"MODE", "fast"}},
                             .user = "ann",
                             .team = "vision"};

Host HostWith(UserCode kind, std::vector<std::string> of) {
  return {.rules = {.kind = kind, .of = std::move(of)}, .server = "gpu1", .machine = "here", .uid = 7};
}

// Empty: none.
std::string WhyNot(const Host& host, const TrainerReference& reference = kAnns) {
  const auto may_run = MayRun(host, reference);
  return may_run.has_value() ? "" : may_run.error().message;
}

std::string PythonOr(const Host& host, const TrainerReference& reference) {
  const auto python = PythonFor(host, reference);
  if (python.has_value()) return *python;
  CHECK(python.error().code == ErrorCode::kFailedPrecondition);
  return python.error().message;
}

}  // namespace

TEST_CASE("a server runs nobody's code, that of users and teams who are listed, or that of its owner") {
  CHECK(WhyNot(HostWith(UserCode::kNone, {})).find("user_code: none") != std::string::npos);
  CHECK(WhyNot(HostWith(UserCode::kListed, {"bob", "ann"})).empty());
  CHECK(WhyNot(HostWith(UserCode::kListed, {"team:vision"})).empty());
  CHECK(WhyNot(HostWith(UserCode::kListed, {"bob", "vision"})).find("ann is not among them") != std::string::npos);
  CHECK(WhyNot(HostWith(UserCode::kOwnJobs, {"ann"})).empty());
  CHECK(WhyNot(HostWith(UserCode::kOwnJobs, {"bob"})).find("own_jobs") != std::string::npos);
}

TEST_CASE("the interpreter is the one that the study names, by path or by a name of the server's") {
  Host host = HostWith(UserCode::kOwnJobs, {"ann"});
  host.rules.pythons = {{"torch", "/bin/true"}, {"gone", "/nowhere/python"}};
  TrainerReference reference = kAnns;
  reference.python = "/bin/false";
  CHECK(PythonOr(host, reference) == "/bin/false");
  reference.python = "/nowhere/python";
  CHECK(PythonOr(host, reference) == "python: /nowhere/python is no program that gpu1 can run; it knows: torch, gone");
  reference.python = "torch";
  CHECK(PythonOr(host, reference) == "/bin/true");
  reference.python = "tensorflow";
  CHECK(PythonOr(host, reference) == "python: gpu1 knows no interpreter tensorflow; it knows: torch, gone");
}

TEST_CASE("where the study names none, it is that of who asks, on the same machine as the same user, else a server's") {
  Host host = HostWith(UserCode::kOwnJobs, {"ann"});
  CHECK(PythonOr(host, kAnns) == "/bin/sh");
  for (Host other : {Host{host.rules, "gpu1", "elsewhere", 7}, Host{host.rules, "gpu1", "here", 8},
                     Host{host.rules, "gpu1", "", 7}}) {
    CHECK(PythonOr(other, kAnns).find("python: PATH") != std::string::npos);
    other.rules.pythons = {{"torch", "/bin/true"}};
    CHECK(PythonOr(other, kAnns) == "/bin/true");
  }
}

TEST_CASE("a worker is told its archive, where data lies, and what of its environment is part of what it is") {
  CHECK(CommandOf(HostWith(UserCode::kNone, {}), kAnns, "/bin/python3", "/work/x.zip") ==
        std::vector<std::string>{"/usr/bin/env", "MODE=fast", "/bin/python3", "-m", "espalier.worker",
                                 "train.py:Digits", "--archive", "/work/x.zip", "--folder", "/home/ann",
                                 "--data=digits.csv", "--environment=MODE"});
}

TEST_CASE("libraries, modules and data for what is built in are given to the service's own worker") {
  Host host = HostWith(UserCode::kOwnJobs, {"ann"});
  TrainerReference reference = kAnns;
  reference.environment.clear();
  reference.data = {"mnist"};
  reference.entry = "library:libnet.so";
  CHECK(PythonOr(host, reference).find("no espalier-worker") != std::string::npos);
  host.own_worker = "/bin/true";
  const Digest128 digest = DigestOf(reference);
  const auto command_of = [&](const std::string& entry) {
    reference.entry = entry;
    CHECK(PythonOr(host, reference).empty());
    return CommandOf(host, reference, "", ArchivePath("/work", digest, ParseEntry(entry)));
  };
  using Words = std::vector<std::string>;
  const std::string folder = "/work/" + ToHex(digest);
  CHECK(command_of("library:libnet.so:lenet") ==
        Words{"/bin/true", "--trainer", folder + "/libnet.so", "--data", "/home/ann/mnist"});
  CHECK(command_of("torchscript:net.pt") ==
        Words{"/bin/true", "--trainer", folder + "/net.pt", "--data", "/home/ann/mnist"});
  CHECK(command_of("built-in:resnet") == Words{"/bin/true", "--trainer", "resnet", "--data", "/home/ann/mnist"});
  reference.data.clear();
  CHECK(command_of("library:libnet.so") == Words{"/bin/true", "--trainer", folder + "/libnet.so"});
  CHECK(command_of("command:./worker --fast").back() == "/home/ann");  // the folder that its shell goes to
}

TEST_CASE("a program is started by the worker for programs, and one in Python by the interpreter that is named") {
  Host host = HostWith(UserCode::kOwnJobs, {"ann"});
  TrainerReference reference = kAnns;
  reference.entry = "script:train.sh";
  CHECK(PythonOr(host, reference).find("no espalier-script") != std::string::npos);
  host.script_worker = "/bin/true";
  CHECK(PythonOr(host, reference).empty());
  CHECK(CommandOf(host, reference, "", "/work/x.zip") ==
        std::vector<std::string>{"/usr/bin/env", "MODE=fast", "/bin/true", "train.sh", "--archive", "/work/x.zip",
                                 "--folder", "/home/ann", "--data=digits.csv", "--environment=MODE"});
  reference.entry = "script:train.py";
  CHECK(PythonOr(host, reference) == "/bin/sh");
  const auto command = CommandOf(host, reference, "/bin/sh", "/work/x.zip");
  CHECK(std::vector<std::string>(command.begin() + 2, command.begin() + 6) ==
        std::vector<std::string>{"/bin/true", "train.py", "--python", "/bin/sh"});
}

}  // namespace espalier::node
