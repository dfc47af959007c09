// Files in shared memory that nobody will ever use. They have a name for the moment in which they are made; who is
// killed within it, as a process may be that starts loader workers in Python, or such a loader, leaves the file behind.
#pragma once

#include <filesystem>

namespace espalier::worker {

// Removes those of this user that were made some seconds ago and that no process has open or mapped, as far as /proc
// tells: files that are named as the C library and Python's multiprocessing name semaphores in the making, and those
// named as PyTorch names a tensor's memory, whose maker lives no more. How many there were. Cost: a look at the folder,
// and where it holds any, at each process of the machine.
int RemoveLeftSharedMemory(const std::filesystem::path& folder = "/dev/shm");

}  // namespace espalier::worker
