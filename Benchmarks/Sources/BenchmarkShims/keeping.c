#define _GNU_SOURCE
#include "BenchmarkShims.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_CAPACITY = 4096 };

static int write_file(const char *path, int64_t size, bool waits) {
  static char bytes[1 << 16];
  int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  int error = 0;
  while (size > 0 && error == 0) {
    ssize_t count = write(file, bytes, size < (int64_t)sizeof bytes ? (size_t)size : sizeof bytes);
    if (count < 0) error = errno;
    else size -= count;
  }
  if (error == 0 && waits && fsync(file) != 0) error = errno;
  close(file);
  return error;
}

static int synchronize(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  int error = fsync(file) == 0 ? 0 : errno;
  close(file);
  return error;
}

/// The file gets another name in a directory of its own, beside a record, and all names of that are brought to the disk.
static int keep(const char *directory, int64_t number) {
  char place[PATH_CAPACITY], path[PATH_CAPACITY], saved[PATH_CAPACITY];
  snprintf(saved, sizeof saved, "%s/saved", directory);
  snprintf(place, sizeof place, "%s/kept/%lld", directory, (long long)number);
  if (mkdir(place, 0700) != 0) return errno;
  snprintf(path, sizeof path, "%.4000s/saved", place);
  if (link(saved, path) != 0) return errno;
  snprintf(path, sizeof path, "%.4000s/record", place);
  int error = write_file(path, 300, true);
  if (error == 0) error = synchronize(place);
  snprintf(path, sizeof path, "%s/kept", directory);
  return error == 0 ? synchronize(path) : error;
}

int bench_save(const char *directory, int64_t size, int64_t number, bool keeps) {
  char temporary[PATH_CAPACITY], saved[PATH_CAPACITY];
  snprintf(temporary, sizeof temporary, "%s/temporary", directory);
  snprintf(saved, sizeof saved, "%s/saved", directory);
  int error = keeps ? keep(directory, number) : 0;
  if (error == 0) error = write_file(temporary, size, true);
  if (error == 0 && rename(temporary, saved) != 0) error = errno;
  return error == 0 ? synchronize(directory) : error;
}
