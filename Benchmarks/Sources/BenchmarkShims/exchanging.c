#define _GNU_SOURCE
#include "BenchmarkShims.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/// Writes a member of so many bytes, and brings it to the disk.
static int write_member(int directory, const char *name, int64_t size) {
  static char bytes[1 << 16];
  int file = openat(directory, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  int error = 0;
  while (size > 0 && error == 0) {
    ssize_t count = write(file, bytes, size < (int64_t)sizeof bytes ? (size_t)size : sizeof bytes);
    if (count < 0) error = errno;
    else size -= count;
  }
  if (error == 0 && fsync(file) != 0) error = errno;
  close(file);
  return error;
}

static int fill(int package, int draft, int64_t count, int64_t size) {
  char name[64];
  for (int64_t number = 1; number < count; number++) {
    snprintf(name, sizeof name, "%lld.png", (long long)number);
    if (linkat(package, name, draft, name, 0) != 0) return errno;
  }
  int error = write_member(draft, "0.png", size);
  return error == 0 && fsync(draft) != 0 ? errno : error;
}

static int empty(int package, int64_t count) {
  char name[64];
  for (int64_t number = 0; number < count; number++) {
    snprintf(name, sizeof name, "%lld.png", (long long)number);
    if (unlinkat(package, name, 0) != 0) return errno;
  }
  return 0;
}

int bench_exchange(const char *directory, const char *name, int64_t count, int64_t size) {
  int parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent < 0) return errno;
  int error = mkdirat(parent, "exchanged", 0700) == 0 ? 0 : errno;
  int package = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int draft = openat(parent, "exchanged", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (error == 0 && (package < 0 || draft < 0)) error = errno;
  if (error == 0) error = fill(package, draft, count, size);
  if (error == 0 && renameat2(parent, "exchanged", parent, name, RENAME_EXCHANGE) != 0) error = errno;
  if (error == 0 && fsync(parent) != 0) error = errno;
  if (error == 0) error = empty(package, count);
  if (error == 0 && unlinkat(parent, "exchanged", AT_REMOVEDIR) != 0) error = errno;
  if (package >= 0) close(package);
  if (draft >= 0) close(draft);
  close(parent);
  return error;
}
