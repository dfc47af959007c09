// Semaphores in shared memory that nobody will ever use. Who is killed within sem_open, as a process may be that starts
// loader workers in Python, leaves a file that was to become one, or that no name leads to any more but its own.
#pragma once

#include <filesystem>

namespace espalier::worker {

// Removes those of this user: files that are named as the C library and Python's multiprocessing name them, were made
// some seconds ago, and that no process has open or mapped, as far as /proc tells. How many there were. Cost: a look at
// the folder, and where it holds any, at each process of the machine.
int RemoveLeftSemaphores(const std::filesystem::path& folder = "/dev/shm");

}  // namespace espalier::worker
