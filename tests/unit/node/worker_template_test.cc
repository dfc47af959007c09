// With the real template, in front of a package that is `espalier` but for its name's sake: workers that say what they
// are, and no PyTorch.
#include "worker/process/worker_template.h"

#include <signal.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/unit/node/process_harness.h"
#include "worker/process/worker_family.h"
#include "worker/process/worker_process.h"
#include "worker/process/worker_templates.h"

namespace espalier::node {

using worker::FamilyMark;
using worker::WorkerProcess;
using worker::WorkerTemplate;
using worker::WorkerTemplates;

namespace {

constexpr char kWorker[] = R"(
import os, resource, signal, sys

def main():
    open(os.path.join(os.environ["ESPALIER_TEMPORARY"], "written"), "w").close()
    fd = int(sys.argv[sys.argv.index("--fd") + 1])
    status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
    print("arguments", sys.argv[1:])
    print("environment", sorted(each for each in os.environ.items() if each[0] != "ESPALIER_WORKER"))
    marks = [each for each in open("/proc/self/environ").read().split("\0") if each.startswith("ESPALIER_WORKER=")]
    print("mark is listed", marks == ["ESPALIER_WORKER=" + os.environ["ESPALIER_WORKER"]])
    print("leads its group", os.getpgid(0) == os.getpid(), "parent", os.getppid())
    links = {each: os.readlink(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd") if each != "4"}
    print("handles", sorted((each, os.path.dirname(link) or link.partition(":")[0]) for each, link in links.items()))
    print("cores", status["Cpus_allowed_list"], "memory", resource.getrlimit(resource.RLIMIT_DATA))
    print("signals", status["SigBlk"], status["SigIgn"], status["SigCgt"])
    print("folder", os.getcwd(), sys.path[1:])
    print("is whole", flush=True)
    if not os.read(fd, 1):
        signal.pause()  # it does not end by itself
    sys.exit("was asked to end")

if __name__ == "__main__":
    main()
)";

// A folder with the package, and what runs there.
class Package {
 public:
  Package() {
    const fs::path package = folder_.path() / "espalier";
    Write(package / "__init__.py", "");
    Write(package / "worker.py", kWorker);
    Write(package / "device.py", "def import_all(): pass\n");
    for (const char* file : {"worker_template.py", "birth.py", "parent.py"}) {
      fs::copy(fs::path(ESPALIER_PYTHON_PACKAGE) / file, package / file);
    }
  }

  const fs::path& path() const { return folder_.path(); }
  fs::path Log(const std::string& name) const { return folder_.path() / (name + ".log"); }
  fs::path temporary() const { return folder_.path() / "temporary"; }
  std::string Mark(const std::string& name) const { return FamilyMark(folder_.path()) + "#" + name; }
  std::vector<std::string> Python() const {
    return {"/usr/bin/env", "PYTHONPATH=" + folder_.path().string(),
            "PYTHONUSERBASE=" + (folder_.path() / "user").string(), "PYTHONDONTWRITEBYTECODE=1", "/usr/bin/python3"};
  }
  std::vector<std::string> Command() const {
    std::vector<std::string> command = Python();
    command.insert(command.end(), {"-m", "espalier.worker", "trainer.py:T", "--data=a b=c"});
    return command;
  }
  std::shared_ptr<WorkerTemplate> Template() const {
    return WorkerTemplate::Start(Python(), {"ESPALIER_THREADS=1"}, Log("template"), Mark("template")).value();
  }
  std::unique_ptr<WorkerProcess> Start(const std::string& name, std::shared_ptr<WorkerTemplate> from) const {
    const worker::WorkerPlace place{.variables = {"ESPALIER_THREADS=1", "CUDA_VISIBLE_DEVICES=GPU-7"},
                                    .cores = {0},
                                    .memory_bytes = std::int64_t{4} << 30,
                                    .temporary = temporary()};
    return WorkerProcess::Start(Command(), Log(name), Mark(name), place, std::move(from)).value();
  }
  // All that the worker has said of itself.
  std::string SaidBy(const std::string& name) const {
    REQUIRE(Eventually([&] { return TextOf(Log(name)).find("is whole") != std::string::npos; }));
    return TextOf(Log(name));
  }

 private:
  TemporaryFolder folder_;
};

void AwaitBirth(WorkerProcess& process) {
  REQUIRE(Eventually([&] {
    process.NoticeBirth();
    return process.pid() != 0;
  }));
}

void AwaitEnd(WorkerProcess& process) {
  REQUIRE(Eventually([&] { return process.HasEnded(); }));
}

}  // namespace

TEST_CASE("a worker that a template has become is as one that was executed") {
  const Package package;
  const auto executed = package.Start("executed", nullptr);
  const std::string expected = package.SaidBy("executed");
  CAPTURE(TextOf(package.Log("template")));
  const auto from = package.Template();
  const auto first = package.Start("first", from);
  const auto second = package.Start("second", from);
  CHECK(package.SaidBy("first") == expected);
  CHECK(package.SaidBy("second") == expected);
  AwaitBirth(*first);
  AwaitBirth(*second);
  CHECK(first->pid() != second->pid());

  REQUIRE(first->channel().Send("").has_value());
  AwaitEnd(*first);
  CHECK(first->LastWords().find("exited with status 1") == 0);
  CHECK(first->LastWords().find("was asked to end") != std::string::npos);
  CHECK_FALSE(fs::exists(package.temporary()));
  CHECK(worker::KillFamily(package.Mark("second")) == 1);
  CHECK(IsGone(second->pid()));
  CHECK_FALSE(from->HasEnded());
}

TEST_CASE("a worker outlives its template, and dies with its node manager") {
  const Package package;
  const pid_t node_manager = fork();
  if (node_manager == 0) {
    auto from = package.Template();
    const auto worker = package.Start("worker", from);
    AwaitBirth(*worker);
    from->Kill();
    Write(package.path() / "worker.pid", std::to_string(worker->pid()) + "\n");
    _exit(pause());
  }
  pid_t pid = 0;
  REQUIRE(Eventually([&] { return static_cast<bool>(std::ifstream(package.path() / "worker.pid") >> pid); }));
  package.SaidBy("worker");
  CHECK_FALSE(IsGone(pid));
  kill(node_manager, SIGKILL);
  waitpid(node_manager, nullptr, 0);
  CHECK(Eventually([&] { return IsGone(pid); }));
}

TEST_CASE("a worker is executed where its template ends before it becomes it") {
  const Package package;
  std::shared_ptr<WorkerTemplate> from;
  SECTION("since it cannot be one") {
    fs::remove(package.path() / "espalier" / "birth.py");
    from = package.Template();
  }
  SECTION("since it was killed") {
    from = package.Template();
    from->Kill();
  }
  SECTION("since what it has imported has changed since") {
    from = package.Template();
    AwaitBirth(*package.Start("before", from));
    Write(package.path() / "espalier" / "device.py", "# another version\n");
  }
  SECTION("since a package was installed since") {
    from = package.Template();
    AwaitBirth(*package.Start("before", from));
    std::vector<std::string> install = package.Python();
    install.insert(install.end(), {"-c", "import os, site; os.makedirs(site.getusersitepackages() + '/new')"});
    const auto installs = WorkerProcess::Start(install, package.Log("install"), package.Mark("install")).value();
    AwaitEnd(*installs);
  }
  const auto worker = package.Start("worker", from);
  AwaitBirth(*worker);
  CHECK(package.SaidBy("worker").find("arguments ['trainer.py:T', '--data=a b=c', '--fd', '3']") == 0);
  CHECK(Eventually([&] { return from->HasEnded(); }));
}

TEST_CASE("a worker that was killed before it was born never lives") {
  const Package package;
  const auto from = package.Template();
  AwaitBirth(*package.Start("before", from));
  kill(from->pid(), SIGSTOP);
  const auto worker = package.Start("worker", from);
  CHECK_FALSE(worker->HasEnded());
  CHECK(worker->pid() == 0);
  worker->Kill();
  CHECK(worker->HasEnded());
  CHECK(worker->CauseOfDeath() == worker::WorkerDeath::Cause::kOwn);
  kill(from->pid(), SIGCONT);
  const auto next = package.Start("next", from);
  package.SaidBy("next");
  CHECK(TextOf(package.Log("worker")).empty());
}

TEST_CASE("templates are kept by interpreter and environment, and end when they are idle") {
  const Package package;
  WorkerTemplates templates([&](int number) { return package.Log("template-" + std::to_string(number)); },
                            package.path().string());
  const worker::WorkerPlace place{.variables = {"ESPALIER_THREADS=1", "CUDA_VISIBLE_DEVICES=0"}};
  const worker::WorkerPlace other_gpu{.variables = {"ESPALIER_THREADS=1", "CUDA_VISIBLE_DEVICES=1"},
                                      .temporary = package.temporary()};
  const worker::WorkerPlace more_threads{.variables = {"ESPALIER_THREADS=2", "CUDA_VISIBLE_DEVICES=1"}};
  std::vector<std::string> other_trainer = package.Command();
  other_trainer.back() = "--data=other";
  const auto first = templates.For(package.Command(), place, Seconds(0));
  REQUIRE(first != nullptr);
  CHECK(templates.Has(first->pid()));
  CHECK(templates.For(other_trainer, other_gpu, Seconds(100)) == first);
  const auto second = templates.For(package.Command(), more_threads, Seconds(100));
  CHECK(second != nullptr);
  CHECK(second != first);
  CHECK(templates.For({"/usr/bin/espalier-worker", "--data", "x"}, place, Seconds(100)) == nullptr);
  CHECK(templates.For({"/bin/sh", "-c", "exec python3 -m espalier.worker", "worker"}, place, Seconds(100)) == nullptr);

  templates.Look(Seconds(100) + worker::kTemplateIdle);
  CHECK(templates.Has(first->pid()));
  templates.Look(Seconds(101) + worker::kTemplateIdle);
  CHECK_FALSE(templates.Has(first->pid()));
}

TEST_CASE("an interpreter that can be no template is tried again after some time, and one that was killed at once") {
  const Package package;
  WorkerTemplates templates([&](int number) { return package.Log("template-" + std::to_string(number)); },
                            package.path().string());
  const auto proved = templates.For(package.Command(), {}, Seconds(0));
  AwaitBirth(*package.Start("worker", proved));
  proved->Kill();
  REQUIRE(Eventually([&] { return proved->HasEnded(); }));
  const auto next = templates.For(package.Command(), {}, Seconds(1));
  REQUIRE(next != nullptr);
  CHECK(next != proved);

  fs::remove(package.path() / "espalier" / "birth.py");
  std::vector<std::string> command = package.Command();
  command.insert(command.begin() + 1, "OF=another environment");
  const auto broken = templates.For(command, {}, Seconds(1));
  REQUIRE(broken != nullptr);
  REQUIRE(Eventually([&] { return broken->HasEnded(); }));
  CHECK(templates.For(command, {}, Seconds(2)) == nullptr);
  CHECK(templates.For(command, {}, Seconds(1) + worker::kTemplateRetry) == nullptr);
  CHECK(templates.For(command, {}, Seconds(2) + worker::kTemplateRetry) != nullptr);
}

}  // namespace espalier::node
