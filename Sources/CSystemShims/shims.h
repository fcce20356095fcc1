// Declarations of Linux system calls that Swift's Glibc module hides.
// Header only: nothing here is compiled on its own.
#ifndef C_SYSTEM_SHIMS_H
#define C_SYSTEM_SHIMS_H

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct timespec;

extern long syscall(long number, ...);

/// futex(2), FUTEX_WAIT_PRIVATE with a relative timeout. Returns 0 or the errno.
static inline int shim_futex_wait(uint32_t *address, uint32_t expected, const struct timespec *timeout) {
  long result = syscall(SYS_futex, address, 128 /* FUTEX_WAIT | FUTEX_PRIVATE_FLAG */, expected, timeout, (void *)0, 0);
  return result == 0 ? 0 : errno;
}

/// futex(2), FUTEX_WAKE_PRIVATE.
static inline void shim_futex_wake(uint32_t *address, int count) {
  syscall(SYS_futex, address, 129 /* FUTEX_WAKE | FUTEX_PRIVATE_FLAG */, count, (void *)0, (void *)0, 0);
}

#endif
