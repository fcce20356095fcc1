#define _GNU_SOURCE
#include "BenchmarkShims.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

// A watcher that a process without privileges may create; fanotify(7) reports names and handles of directories.
static int open_watcher(int kind) {
  if (kind == BENCH_WATCHER_INOTIFY) return inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  return fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_DFID_NAME | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY);
}

static int watch(int watcher, int kind, const char *path) {
  if (kind == BENCH_WATCHER_INOTIFY) {
    uint32_t mask = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF |
                    IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK;
    return inotify_add_watch(watcher, path, mask) < 0 ? errno : 0;
  }
  uint64_t mask = FAN_CREATE | FAN_DELETE | FAN_RENAME | FAN_MODIFY | FAN_CLOSE_WRITE | FAN_ATTRIB | FAN_DELETE_SELF | FAN_MOVE_SELF |
                  FAN_EVENT_ON_CHILD | FAN_ONDIR;
  if (fanotify_mark(watcher, FAN_MARK_ADD | FAN_MARK_ONLYDIR | FAN_MARK_DONT_FOLLOW, mask, AT_FDCWD, path) != 0) return errno;
  // Events name the directory by its handle, so the watcher has to record that handle.
  union {
    struct file_handle handle;
    char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
  } name;
  name.handle.handle_bytes = MAX_HANDLE_SZ;
  int mount;
  return name_to_handle_at(AT_FDCWD, path, &name.handle, &mount, 0) != 0 ? errno : 0;
}

int bench_watch_all(int kind, const char *const *paths, int64_t count, double *nanoseconds) {
  double start = now();
  int watcher = open_watcher(kind);
  if (watcher < 0) return errno;
  int error = 0;
  for (int64_t index = 0; index < count && error == 0; index++) error = watch(watcher, kind, paths[index]);
  *nanoseconds = now() - start;
  close(watcher);
  return error;
}

struct reader {
  int watcher, end;
};

static void *drain(void *argument) {
  struct reader *reader = argument;
  char *buffer = malloc(65536);
  struct pollfd descriptors[2] = {{.fd = reader->watcher, .events = POLLIN}, {.fd = reader->end, .events = POLLIN}};
  while (buffer != NULL && poll(descriptors, 2, -1) >= 0 && descriptors[1].revents == 0) {
    while (read(reader->watcher, buffer, 65536) > 0) {}
  }
  free(buffer);
  return NULL;
}

static int change(const char *directory, int64_t rounds) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/changing", directory) >= (int)sizeof path) return ENAMETOOLONG;
  for (int64_t round = 0; round < rounds; round++) {
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return errno;
    close(file);
    if (unlink(path) != 0) return errno;
  }
  return 0;
}

int bench_change_watched(int kind, const char *directory, int64_t rounds, double *nanoseconds) {
  struct reader reader = {.watcher = -1, .end = eventfd(0, EFD_CLOEXEC)};
  pthread_t thread;
  int error = reader.end < 0 ? errno : 0;
  if (error == 0 && kind != BENCH_WATCHER_NONE) {
    reader.watcher = open_watcher(kind);
    error = reader.watcher < 0 ? errno : watch(reader.watcher, kind, directory);
    if (error == 0) error = pthread_create(&thread, NULL, drain, &reader);
  }
  if (error == 0) {
    double start = now();
    error = change(directory, rounds);
    *nanoseconds = now() - start;
    if (kind != BENCH_WATCHER_NONE) {
      eventfd_write(reader.end, 1);
      pthread_join(thread, NULL);
    }
  }
  if (reader.watcher >= 0) close(reader.watcher);
  if (reader.end >= 0) close(reader.end);
  return error;
}
