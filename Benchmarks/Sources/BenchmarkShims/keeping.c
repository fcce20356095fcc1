#define _GNU_SOURCE
#include "BenchmarkShims.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { PATH_CAPACITY = 4096, PART_COUNT_MAX = 8 };

/// Descriptors of what has to be brought to the disk.
struct parts {
  int descriptors[PART_COUNT_MAX];
  int count;
};

/// The first error counts.
static void note(int *error, int result) {
  if (result != 0 && *error == 0) *error = errno;
}

static int add_part(struct parts *parts, const char *path) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  parts->descriptors[parts->count++] = descriptor;
  return 0;
}

static int add_file(struct parts *parts, const char *path, int64_t size) {
  static char bytes[1 << 16];
  int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  parts->descriptors[parts->count++] = file;
  while (size > 0) {
    ssize_t count = write(file, bytes, size < (int64_t)sizeof bytes ? (size_t)size : sizeof bytes);
    if (count < 0) return errno;
    size -= count;
  }
  return 0;
}

static void close_all(struct parts *parts) {
  while (parts->count > 0) close(parts->descriptors[--parts->count]);
}

static void *synchronize(void *descriptor) {
  return (void *)(intptr_t)(fsync((int)(intptr_t)descriptor) == 0 ? 0 : errno);
}

/// One after the other, or each on a thread of its own at the same time. Closes all of them.
static int synchronize_all(struct parts *parts, bool together) {
  int error = 0, started = 1;
  pthread_t threads[PART_COUNT_MAX];
  if (together) {
    for (; started < parts->count; started++) {
      void *descriptor = (void *)(intptr_t)parts->descriptors[started];
      if (pthread_create(&threads[started], NULL, synchronize, descriptor) != 0) break;
    }
  }
  for (int part = 0; part < parts->count; part++) {
    if (part == 0 || part >= started) note(&error, fsync(parts->descriptors[part]));
  }
  for (int part = 1; part < started; part++) {
    void *result = NULL;
    pthread_join(threads[part], &result);
    if (result != NULL && error == 0) error = (int)(intptr_t)result;
  }
  close_all(parts);
  return error;
}

/// The file gets another name in a directory of its own, beside a record; all of that has to be brought to the disk.
static int keep(const char *directory, int64_t number, struct parts *parts) {
  char place[PATH_CAPACITY], path[PATH_CAPACITY], saved[PATH_CAPACITY];
  snprintf(saved, sizeof saved, "%s/saved", directory);
  snprintf(place, sizeof place, "%s/kept/%lld", directory, (long long)number);
  if (mkdir(place, 0700) != 0) return errno;
  snprintf(path, sizeof path, "%.4000s/saved", place);
  if (link(saved, path) != 0) return errno;
  snprintf(path, sizeof path, "%.4000s/record", place);
  int error = add_file(parts, path, 300);
  if (error == 0) error = add_part(parts, place);
  snprintf(path, sizeof path, "%s/kept", directory);
  return error == 0 ? add_part(parts, path) : error;
}

/// The file gets another name in a directory of many, and its record is an attribute; all of that has to be brought to the disk.
static int keep_bare(const char *directory, int64_t number, struct parts *parts) {
  static const char record[300] = "record";
  char path[PATH_CAPACITY], saved[PATH_CAPACITY];
  snprintf(saved, sizeof saved, "%s/saved", directory);
  snprintf(path, sizeof path, "%s/kept/%lld", directory, (long long)number);
  int error = add_part(parts, saved);
  if (error != 0) return error;
  if (fsetxattr(parts->descriptors[parts->count - 1], "user.record", record, sizeof record, 0) != 0) return errno;
  if (link(saved, path) != 0) return errno;
  snprintf(path, sizeof path, "%s/kept", directory);
  return add_part(parts, path);
}

int bench_save(const char *directory, int64_t size, int64_t number, enum bench_keeping keeping) {
  char temporary[PATH_CAPACITY], saved[PATH_CAPACITY];
  snprintf(temporary, sizeof temporary, "%s/temporary", directory);
  snprintf(saved, sizeof saved, "%s/saved", directory);
  struct parts parts = {.count = 0};
  int error = 0;
  if (keeping == BENCH_KEEPS_BEFORE) error = keep(directory, number, &parts);
  if (keeping == BENCH_KEEPS_BARE) error = keep_bare(directory, number, &parts);
  if (error == 0 && keeping == BENCH_KEEPS_BEFORE) error = synchronize_all(&parts, false);
  if (error == 0) error = add_file(&parts, temporary, size);
  if (error == 0) error = synchronize_all(&parts, keeping == BENCH_KEEPS_BARE);
  close_all(&parts);
  if (error == 0 && rename(temporary, saved) != 0) error = errno;
  if (error == 0) error = add_part(&parts, directory);
  return error == 0 ? synchronize_all(&parts, false) : error;
}
