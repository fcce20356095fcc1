// The C declarations of the benchmarks: things that Swift can't declare (interposed functions, signal handlers,
// function pointers at offsets) and constants that Swift's Glibc module hides.
#ifndef BENCHMARK_SHIMS_H
#define BENCHMARK_SHIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Scheduling

/// Fills `cpus` with the numbers of the CPUs this process may use, at most `capacity`; returns how many there are.
int bench_allowed_cpus(int *cpus, int capacity);
/// Pins a thread, 0 for the calling one, to a CPU; returns 0 or an error number.
int bench_pin_thread(int thread, int cpu);
/// Voluntary and involuntary context switches of the calling thread.
void bench_context_switches(uint64_t *voluntary, uint64_t *involuntary);
/// CPU time of this process, user and system, in nanoseconds.
uint64_t bench_process_cpu_time(void);
/// Removes a directory tree without following symbolic links. Async-signal-unsafe.
int bench_remove_tree(const char *path);

// MARK: Walking

/// Reads a tree and asks for the status of each entry, as little else as possible; returns how many there are.
int64_t bench_walk_with_status(const char *root);

// MARK: Saving

/// The treatment of the old file when another one takes its place: the least that a store of versions has to do.
///
/// It gets another name in `kept` before, with a record beside it, and all of that is synced before the new file is written. Or a bare
/// one, with the record as an attribute, and all of that is synced together with the new file, each on a thread of its own.
enum bench_keeping { BENCH_KEEPS_NOTHING = 0, BENCH_KEEPS_BEFORE = 1, BENCH_KEEPS_BARE = 2 };

/// Replaces `saved` in a directory by another file of that size: written, synced, renamed, and the directory synced. Returns 0 or an
/// error number.
int bench_save(const char *directory, int64_t size, int64_t number, enum bench_keeping keeping);

/// Puts a directory in the place of another one that has `count` members, `0.png`, `1.png` and so on, one of which was altered:
/// it's written and synced, the others get another name, the new directory is synced, the two change places, their parent is synced,
/// and the old one is removed. That's the least that has to be done if readers and crashes are to find the old package or the new
/// one, and nothing else is to be left. Returns 0 or an error number.
int bench_exchange(const char *directory, const char *name, int64_t count, int64_t size);

// MARK: Watching

enum { BENCH_WATCHER_NONE = 0, BENCH_WATCHER_INOTIFY = 1, BENCH_WATCHER_FANOTIFY = 2 };

/// Watches directories, with fanotify by marks that need no privilege; tells how long that took. Returns 0 or an error number.
int bench_watch_all(int kind, const char *const *paths, int64_t count, double *nanoseconds);

/// Creates, closes and removes a file so often while a thread reads the events of its directory, and tells how long that took.
/// Returns 0 or an error number.
int bench_change_watched(int kind, const char *directory, int64_t rounds, double *nanoseconds);

// MARK: Open-file-description locks

/// `F_OFD_SETLKW` on the whole file; `type` is `F_RDLCK`, `F_WRLCK` or `F_UNLCK`. Returns 0 or an error number.
int bench_ofd_lock(int descriptor, int type);

// MARK: Memory

/// Bytes that malloc has handed out in all arenas, mapped chunks included.
size_t bench_malloc_in_use(void);
/// Gives free memory back to the kernel.
void bench_malloc_trim(void);
/// Calls of malloc, calloc, realloc and their relatives by the calling thread so far.
uint64_t bench_allocation_count(void);
/// Has the calls of all threads counted from now on, or no longer. One at a time may want that.
void bench_count_allocations_of_all_threads(bool is_wanted);
/// How many of them there were while they were counted.
uint64_t bench_allocation_count_of_all_threads(void);

// MARK: Retain and release

/// Counts retains and releases of the calling thread until `bench_reference_counting_end`. Returns false where the Swift
/// runtime has no hooks. One thread at a time.
bool bench_reference_counting_begin(void);
void bench_reference_counting_end(uint64_t *retains, uint64_t *releases);
/// One retain and one release of a Swift object, through the functions that compiled Swift calls.
void bench_retain_and_release(void *object);

// MARK: System calls

/// Counts system calls of the calling thread until `bench_system_call_counting_end`. Returns false where the kernel or the
/// processor can't (prctl(2), PR_SET_SYSCALL_USER_DISPATCH).
bool bench_system_call_counting_begin(void);
uint64_t bench_system_call_counting_end(void);

// MARK: Berkeley DB

typedef struct bench_bdb bench_bdb;

/// Opens an environment of Berkeley DB 5.3's lock manager: a private one, or one that processes share in the directory
/// `home`. On failure returns NULL and writes the reason.
bench_bdb *bench_bdb_open(const char *home, char *reason, size_t reason_capacity);
void bench_bdb_close(bench_bdb *environment);
/// Makes a locker; returns 0 or an error.
int bench_bdb_locker(bench_bdb *environment, uint32_t *locker);
int bench_bdb_free_locker(bench_bdb *environment, uint32_t locker);

/// A lock that is held; as large as DB_LOCK.
typedef struct {
  uint64_t words[4];
} bench_bdb_lock;

/// Waits for a lock and takes it; returns 0 or an error.
int bench_bdb_get(
    bench_bdb *environment, uint32_t locker, const void *bytes, uint32_t length, bool is_written, bench_bdb_lock *lock);
int bench_bdb_put(bench_bdb *environment, bench_bdb_lock *lock);

#endif
