#pragma once

namespace bapi {

// Asks the kernel to run this thread for short slices of time (0.1 ms), which makes it wake up sooner on a busy
// machine: a thread that sleeps most of the time, and others wait for, loses nothing by it. Linux 6.12 and later grant
// it to everybody; older kernels ignore it. Processes and threads that are started later do not inherit it.
void ask_for_short_slices();

}  // namespace bapi
