#include "worker/process/worker_template.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "worker/process/worker_process.h"

namespace espalier::worker {
namespace {

// Within the memory of its mark each worker writes its own.
constexpr std::size_t kMarkBytes = 1024;

std::string RequestFor(const WorkerLaunch& launch, const std::vector<std::string>& arguments) {
  std::string fields;
  const auto add = [&](std::string_view name, std::string_view value) {
    fields.append(name).append("=").append(value).push_back('\0');
  };
  add("parent", std::to_string(getpid()));
  add("mark", launch.mark);
  add("memory_bytes", std::to_string(launch.place.memory_bytes));
  for (const std::string& argument : arguments) add("argument", argument);
  for (const std::string& variable : launch.place.variables) add("variable", variable);
  for (const int core : launch.place.cores) add("core", std::to_string(core));
  std::string request;
  for (int byte = 0; byte < 4; ++byte) request.push_back(static_cast<char>(fields.size() >> (8 * byte)));
  return request + fields;
}

// Whether all of it could be sent at once.
bool SendWith(const std::vector<int>& handles, std::string& request, int socket) {
  iovec content{.iov_base = request.data(), .iov_len = request.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(handles.size() * sizeof(int));
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(handles.size() * sizeof(int));
  std::memcpy(CMSG_DATA(head), handles.data(), handles.size() * sizeof(int));
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(request.size());
}

}  // namespace

std::optional<PythonWorker> AsPythonWorker(const std::vector<std::string>& command) {
  constexpr std::array<std::string_view, 2> kModule{"-m", "espalier.worker"};
  const auto module = std::search(command.begin(), command.end(), kModule.begin(), kModule.end());
  if (module == command.begin() || module == command.end()) return std::nullopt;
  return PythonWorker{{command.begin(), module}, {module + 2, command.end()}};
}

Result<std::shared_ptr<WorkerTemplate>> WorkerTemplate::Start(const std::vector<std::string>& python,
                                                              const std::vector<std::string>& variables,
                                                              const std::filesystem::path& log,
                                                              const std::string& mark) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::vector<std::string> command = python;
  command.insert(command.end(), {"-m", "espalier.worker_template"});
  const std::string roomy_mark = mark + "#" + std::string(kMarkBytes, '.');
  ESPALIER_ASSIGN(auto process, WorkerProcess::Start(command, log, roomy_mark, {.variables = variables}));
  return std::shared_ptr<WorkerTemplate>(new WorkerTemplate(std::move(process)));
}

WorkerTemplate::WorkerTemplate(std::unique_ptr<WorkerProcess> process) : process_(std::move(process)) {}

WorkerTemplate::~WorkerTemplate() = default;

Result<Handle> WorkerTemplate::Ask(const WorkerLaunch& launch, const std::vector<std::string>& arguments) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return MakeError(ErrorCode::kUnavailable, std::string("no socket for a worker's birth: ") + std::strerror(errno));
  }
  Handle ours(sockets[0]);
  const Handle birth(sockets[1]);
  std::vector<int> handles{birth.get(), launch.worker_socket.get(), launch.log.get()};
  if (launch.group.is_open()) handles.push_back(launch.group.get());
  std::string request = RequestFor(launch, arguments);
  if (SendWith(handles, request, process_->channel().socket())) return ours;
  Kill();  // it may have got a part
  return MakeError(ErrorCode::kUnavailable, "the template of workers takes nothing any more");
}

pid_t WorkerTemplate::pid() const { return process_->pid(); }

bool WorkerTemplate::HasEnded() { return process_->HasEnded(); }

std::string WorkerTemplate::LastWords() const { return process_->LastWords(); }

void WorkerTemplate::Kill() { process_->Kill(); }

}  // namespace espalier::worker
