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

// MARK: - Files

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>

/// Constants that need `_GNU_SOURCE`, which Swift's importer doesn't define; values from the kernel's uapi headers.
enum {
  shim_O_PATH = 010000000,
  shim_O_TMPFILE = 020000000 | O_DIRECTORY,
  shim_SEEK_DATA = 3,
  shim_SEEK_HOLE = 4,
  shim_UTIME_OMIT = (1 << 30) - 2,
  shim_RENAME_NOREPLACE = 1,
  shim_RENAME_EXCHANGE = 2,
};

extern int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned int flags);
extern ssize_t copy_file_range(int from, int64_t *from_offset, int to, int64_t *to_offset, size_t count,
                               unsigned int flags);
extern ssize_t getdents64(int directory, void *buffer, size_t length);

/// ioctl_ficlone(2): shares the whole contents of `from` with `to`.
static inline int shim_clone(int to, int from) { return ioctl(to, 0x40049409 /* FICLONE */, from); }

/// openat2(2) with RESOLVE_NO_SYMLINKS, which glibc doesn't wrap.
static inline int shim_open_without_symlinks(int directory, const char *path, uint64_t flags, uint64_t mode) {
  struct {
    uint64_t flags, mode, resolve;
  } how = {flags, mode, 0x04 /* RESOLVE_NO_SYMLINKS */};
  return (int)syscall(437 /* SYS_openat2 */, directory, path, &how, sizeof how);
}

#endif
