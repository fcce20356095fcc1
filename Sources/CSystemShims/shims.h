// Declarations of Linux system calls that Swift's Glibc module hides.
// Header only: nothing here is compiled on its own.
#ifndef C_SYSTEM_SHIMS_H
#define C_SYSTEM_SHIMS_H

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern long syscall(long number, ...);

// MARK: Threads

/// futex(2), FUTEX_WAIT_BITSET_PRIVATE: sleeps while `*address == expected`, until the absolute CLOCK_MONOTONIC
/// `deadline` (NULL: without limit). Plain FUTEX_WAIT takes a relative time, which drifts when a wait is repeated.
/// Returns 0 or the errno (EAGAIN, EINTR, ETIMEDOUT).
static inline int shim_futex_wait(uint32_t *address, uint32_t expected, const struct timespec *deadline) {
  long result = syscall(
      SYS_futex, address, 137 /* FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG */, expected, deadline, (void *)0,
      0xffffffffu /* FUTEX_BITSET_MATCH_ANY */);
  return result == 0 ? 0 : errno;
}

/// futex(2), FUTEX_WAKE_PRIVATE: wakes at most `count` sleepers. Keeps errno, the caller may be between a system call
/// and the look at its error.
static inline void shim_futex_wake(uint32_t *address, int count) {
  int saved = errno;
  syscall(SYS_futex, address, 129 /* FUTEX_WAKE | FUTEX_PRIVATE_FLAG */, count, (void *)0, (void *)0, 0);
  errno = saved;
}

/// Tells the processor that this is a spin loop.
static inline void shim_spin_hint(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield" ::: "memory");
#else
  __asm__ volatile("" ::: "memory");
#endif
}

/// sched_getaffinity(2): how many processors this process may use. Unlike sysconf(_SC_NPROCESSORS_ONLN) it obeys
/// taskset and cpusets. At least 1.
static inline int shim_usable_processor_count(void) {
  unsigned long mask[128] = {0};
  long size = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);
  int count = 0;
  for (long i = 0; i < size / (long)sizeof(mask[0]); i++) count += __builtin_popcountl(mask[i]);
  return count > 0 ? count : 1;
}

/// gettid(2).
static inline int32_t shim_thread_id(void) { return (int32_t)syscall(SYS_gettid); }

/// pthread_setname_np(3) for the calling thread, through prctl(2) PR_SET_NAME, which cuts the name after 15 bytes
/// where pthread_setname_np refuses it.
static inline void shim_set_thread_name(const char *name) {
  syscall(SYS_prctl, 15 /* PR_SET_NAME */, name, 0, 0, 0);
}

/// prctl(2) PR_GET_NAME of the calling thread. `name` has room for 16 bytes.
static inline void shim_get_thread_name(char *name) {
  syscall(SYS_prctl, 16 /* PR_GET_NAME */, name, 0, 0, 0);
}

extern char *program_invocation_short_name;

/// program_invocation_short_name(3): the last component of argv[0].
static inline const char *shim_program_name(void) { return program_invocation_short_name; }

/// clock_gettime(2) CLOCK_MONOTONIC_COARSE in nanoseconds: the time of the last timer tick, without reading the hardware.
static inline int64_t shim_coarse_nanoseconds(void) {
  struct timespec time;
  clock_gettime(6 /* CLOCK_MONOTONIC_COARSE */, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/// clock_gettime(2) CLOCK_REALTIME_COARSE in nanoseconds: the time that files get when they're changed now.
static inline int64_t shim_file_time(void) {
  struct timespec time;
  clock_gettime(5 /* CLOCK_REALTIME_COARSE */, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/// clock_getres(2): how long shim_coarse_nanoseconds may stand still.
static inline int64_t shim_coarse_resolution(void) {
  struct timespec time;
  clock_getres(6 /* CLOCK_MONOTONIC_COARSE */, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// MARK: - Files

#include <fcntl.h>
#include <poll.h>
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

/// The answer of statx(2), with devices as stat(2) has them.
struct shim_status {
  uint32_t mode, owner, group, link_count;
  uint64_t size, block_count, device, inode, represented_device;
  struct timespec modification_time, change_time, creation_time;
  _Bool has_creation_time;
};

/// gnu_dev_makedev(3), which `makedev` is a macro for.
static inline uint64_t shim_device(uint64_t major, uint64_t minor) {
  return (major & 0xfff) << 8 | (major & ~UINT64_C(0xfff)) << 32 | (minor & 0xff) | (minor & ~UINT64_C(0xff)) << 12;
}

/// `struct statx_timestamp` and `struct statx`: the interface of the kernel, which glibc declares under `_GNU_SOURCE` only.
struct shim_statx_time {
  int64_t seconds;
  uint32_t nanoseconds;
  int32_t reserved;
};
struct shim_statx {
  uint32_t mask, block_size;
  uint64_t attributes;
  uint32_t link_count, owner, group;
  uint16_t mode, spare;
  uint64_t inode, size, block_count, attributes_mask;
  struct shim_statx_time access_time, creation_time, change_time, modification_time;
  uint32_t represented_major, represented_minor, major, minor;
  uint64_t reserved[14];
};
extern int statx(int directory, const char *path, int flags, unsigned int mask, struct shim_statx *status);

static inline struct timespec shim_time(struct shim_statx_time time) {
  struct timespec result = {time.seconds, time.nanoseconds};
  return result;
}

/// statx(2), which glibc replaces by fstatat(2) where the kernel doesn't have it.
static inline int shim_read_status(int directory, const char *path, int flags, struct shim_status *status) {
  struct shim_statx raw;
  if (statx(directory, path, flags, 0xfff /* STATX_BASIC_STATS | STATX_BTIME */, &raw) != 0) return -1;
  *status = (struct shim_status){
      .mode = raw.mode, .owner = raw.owner, .group = raw.group, .link_count = raw.link_count, .size = raw.size,
      .block_count = raw.block_count, .device = shim_device(raw.major, raw.minor), .inode = raw.inode,
      .represented_device = shim_device(raw.represented_major, raw.represented_minor),
      .modification_time = shim_time(raw.modification_time), .change_time = shim_time(raw.change_time),
      .creation_time = shim_time(raw.creation_time), .has_creation_time = (raw.mask & 0x800 /* STATX_BTIME */) != 0};
  return 0;
}

/// openat2(2) with RESOLVE_NO_SYMLINKS, which glibc doesn't wrap.
static inline int shim_open_without_symlinks(int directory, const char *path, uint64_t flags, uint64_t mode) {
  struct {
    uint64_t flags, mode, resolve;
  } how = {flags, mode, 0x04 /* RESOLVE_NO_SYMLINKS */};
  return (int)syscall(437 /* SYS_openat2 */, directory, path, &how, sizeof how);
}

// MARK: - Changes of names

#include <sys/statfs.h>

/// ioctl(2) FIONREAD: how many bytes of events are queued; takes the lock of the queue, so an event whose rename(2) has
/// returned is counted. epoll_wait(2) with a timeout of zero looks without that lock and can miss it. -1 on an error.
static inline int shim_queued_bytes(int descriptor) {
  int count = 0;
  return ioctl(descriptor, 0x541B /* FIONREAD */, &count) == 0 ? count : -1;
}

/// fstatfs(2): the type of the file system, 0 when it can't be read.
static inline uint32_t shim_file_system_type(int descriptor) {
  struct statfs status;
  return fstatfs(descriptor, &status) == 0 ? (uint32_t)status.f_type : 0;
}

/// ioctl_iflags(2) FS_IOC_GETFLAGS: whether the directory takes names that differ in case for the same.
static inline int shim_folds_case(int directory) {
  unsigned int flags = 0;
  return ioctl(directory, _IOR('f', 1, long), &flags) == 0 && (flags & 0x40000000 /* FS_CASEFOLD_FL */) != 0;
}

/// poll(2) on /proc/self/mountinfo, proc_pid_mountinfo(5): whether something was mounted or unmounted since the last call.
static inline int shim_mounts_changed(int mountinfo) {
  struct pollfd request = {mountinfo, POLLPRI, 0};
  return poll(&request, 1, 0) != 0;
}

// MARK: - Local sockets

#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

/// How many bytes the path of a Unix-domain socket may have, see unix(7); one is for the NUL.
enum { shim_local_path_length_max = sizeof(((struct sockaddr_un *)0)->sun_path) - 1 };

/// socket(2) for a Unix-domain stream that is closed on exec and never blocks.
static inline int shim_local_socket(void) {
  return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/// socketpair(2), likewise.
static inline int shim_local_pair(int *descriptors) {
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, descriptors);
}

/// accept4(2), likewise; declared by glibc under `_GNU_SOURCE` only.
extern int accept4(int socket, struct sockaddr *__restrict address, socklen_t *__restrict length, int flags);
static inline int shim_local_accept(int socket) {
  return accept4(socket, (struct sockaddr *)0, (socklen_t *)0, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/// Fills an address; -1 with ENAMETOOLONG when the path is too long for it.
static inline int shim_local_address(struct sockaddr_un *address, const char *path) {
  size_t length = strlen(path);
  if (length > shim_local_path_length_max) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  memcpy(address->sun_path, path, length);
  return 0;
}

/// bind(2) to a path.
static inline int shim_local_bind(int socket, const char *path) {
  struct sockaddr_un address;
  if (shim_local_address(&address, path) != 0) return -1;
  return bind(socket, (struct sockaddr *)&address, sizeof address);
}

/// connect(2) to a path.
static inline int shim_local_connect(int socket, const char *path) {
  struct sockaddr_un address;
  if (shim_local_address(&address, path) != 0) return -1;
  return connect(socket, (struct sockaddr *)&address, sizeof address);
}

/// getsockopt(2) of an option that is an int; -1 on an error, which none of the options we read is.
static inline int shim_socket_option(int socket, int option) {
  int value = 0;
  socklen_t length = sizeof value;
  return getsockopt(socket, SOL_SOCKET, option, &value, &length) == 0 ? value : -1;
}

/// `struct ucred`, which glibc declares under `_GNU_SOURCE` only.
struct shim_credentials {
  int32_t pid;
  uint32_t uid, gid;
};

/// getsockopt(2) SO_PEERCRED, see unix(7).
static inline int shim_peer_credentials(int socket, struct shim_credentials *credentials) {
  socklen_t length = sizeof *credentials;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, credentials, &length);
}

/// poll(2) on one descriptor.
static inline int shim_poll(int descriptor, int events, int timeout) {
  struct pollfd request = {descriptor, (short)events, 0};
  return poll(&request, 1, timeout);
}

/// epoll_ctl(2) with a token for the caller.
static inline int shim_epoll_control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
  struct epoll_event event = {.events = events, .data.u64 = token};
  return epoll_ctl(epoll, operation, descriptor, &event);
}

/// `struct epoll_event` without the packing, which Swift can't look into.
struct shim_readiness {
  uint64_t token;
  uint32_t events;
};

/// How many events one wait returns at most.
enum { shim_readiness_count_max = 64 };

/// epoll_wait(2).
static inline int shim_epoll_wait(int epoll, struct shim_readiness *ready, int timeout) {
  struct epoll_event events[shim_readiness_count_max];
  int count = epoll_wait(epoll, events, shim_readiness_count_max, timeout);
  for (int i = 0; i < count; i++) {
    ready[i].token = events[i].data.u64;
    ready[i].events = events[i].events;
  }
  return count;
}

// MARK: - Locks between processes

/// fcntl(2) F_OFD_SETLK or F_OFD_SETLKW: an exclusive lock on a whole file that belongs to the open file description.
static inline int shim_lock_exclusively(int descriptor, _Bool waits) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, waits ? 38 /* F_OFD_SETLKW */ : 37 /* F_OFD_SETLK */, &lock);
}

/// fcntl(2) F_OFD_SETLK: a lock that others may share, and that excludes exclusive ones; needs no right to write the file.
static inline int shim_lock_shared(int descriptor) {
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, 37 /* F_OFD_SETLK */, &lock);
}

static inline int shim_unlock(int descriptor) {
  struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, 37 /* F_OFD_SETLK */, &lock);
}

// MARK: - Signals that ask a process to end

#include <signal.h>

extern int pipe2(int ends[2], int flags);

/// pipe2(2): a pipe that programs don't inherit, and whose writers don't wait. 0, or -1 with errno.
static inline int shim_make_pipe(int *read_end, int *write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  *read_end = ends[0];
  *write_end = ends[1];
  return fcntl(ends[1], F_SETFL, O_NONBLOCK);
}

/// Where the handler reports signals, in which process, and what it has replaced. A copy for each object file: only one may use it.
static struct {
  volatile int descriptor;
  volatile int32_t process;
  struct sigaction former[32];
} shim_asked_to_end = {.descriptor = -1};

/// Restores the action that a signal had before; 0, or -1 with errno.
static inline int shim_restore_signal(int number) {
  return sigaction(number, &shim_asked_to_end.former[number], (void *)0);
}

/// signal-safety(7): calls write(2), getpid(2), kill(2) and sigaction(2), and keeps errno.
static inline void shim_note_asked_to_end(int number) {
  int saved = errno;
  if (shim_asked_to_end.process == getpid()) {
    unsigned char byte = (unsigned char)number;
    ssize_t count = write(shim_asked_to_end.descriptor, &byte, 1);
    (void)count;
  } else {
    // A forked child, whose parent reads the pipe. The signal comes again when this returns.
    shim_restore_signal(number);
    kill(getpid(), number);
  }
  errno = saved;
}

/// Lets a signal be reported as one byte to a pipe whose end doesn't block. 1 if it's done, 0 if the signal is ignored and stays so, or -1
/// with errno.
static inline int shim_report_signal(int number, int descriptor) {
  struct sigaction action = {0};
  if (sigaction(number, (void *)0, &action) != 0) return -1;
  if (action.sa_handler == SIG_IGN) return 0;
  if (action.sa_handler == shim_note_asked_to_end) return 1;
  shim_asked_to_end.descriptor = descriptor;
  shim_asked_to_end.process = getpid();
  action.sa_handler = shim_note_asked_to_end;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  return sigaction(number, &action, &shim_asked_to_end.former[number]) == 0 ? 1 : -1;
}

/// Whether the signal is still reported: somebody may have set another action since.
static inline _Bool shim_is_signal_reported(int number) {
  struct sigaction action = {0};
  return sigaction(number, (void *)0, &action) == 0 && action.sa_handler == shim_note_asked_to_end;
}

/// Sends a signal to the calling thread, which must not block it: its action has been taken on return.
static inline void shim_raise_unblocked(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_UNBLOCK, &set, (void *)0);
  raise(number);
}

// MARK: - Calls that the kernel makes by itself

/// `struct iocb` and `struct io_event`: the interface of the kernel, which glibc doesn't declare.
struct shim_iocb {
  uint64_t data;
  uint32_t key_or_flags, flags_or_key;
  uint16_t operation;
  int16_t priority;
  uint32_t descriptor;
  uint64_t buffer, length;
  int64_t offset;
  uint64_t reserved;
  uint32_t flags, event_descriptor;
};

struct shim_io_event {
  uint64_t data, call;
  int64_t result, second_result;
};

enum { shim_aio_capacity = 32 };

/// io_setup(2): a context for `shim_aio_capacity` calls. Returns 0 or the errno.
static inline int shim_aio_setup(unsigned long *context) {
  *context = 0;
  return syscall(SYS_io_setup, shim_aio_capacity, context) == 0 ? 0 : errno;
}

/// io_destroy(2); waits for the calls that aren't done.
static inline void shim_aio_destroy(unsigned long context) { syscall(SYS_io_destroy, context); }

/// io_submit(2): fsync(2) of each of at most `shim_aio_capacity` descriptors. Returns how many of the first ones the kernel took.
static inline long shim_aio_synchronize(unsigned long context, const int32_t *descriptors, long count) {
  struct shim_iocb calls[shim_aio_capacity], *pointers[shim_aio_capacity];
  if (count > shim_aio_capacity) count = shim_aio_capacity;
  for (long index = 0; index < count; index++) {
    calls[index] = (struct shim_iocb){.operation = 2 /* IOCB_CMD_FSYNC */, .descriptor = (uint32_t)descriptors[index]};
    pointers[index] = &calls[index];
  }
  long taken = count == 0 ? 0 : syscall(SYS_io_submit, context, count, pointers);
  return taken < 0 ? 0 : taken;
}

/// io_getevents(2): waits until `count` calls are done. Returns the errno of one that failed, or 0.
static inline int shim_aio_wait(unsigned long context, long count) {
  struct shim_io_event events[shim_aio_capacity];
  int error = 0;
  while (count > 0) {
    long done = syscall(SYS_io_getevents, context, 1L, count < shim_aio_capacity ? count : shim_aio_capacity, events, (void *)0);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    for (long index = 0; index < done; index++) {
      int code = (int)-events[index].result;
      // File systems that can't synchronize a directory say that it's unsupported: no other error hides behind that.
      if (code != 0 && code != EINVAL && code != ENOSYS && code != EOPNOTSUPP) error = code;
    }
    count -= done;
  }
  return error;
}

#endif
