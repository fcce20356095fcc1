#define _GNU_SOURCE
#include "BenchmarkShims.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t walk(int directory) {
  DIR *stream = fdopendir(directory);
  if (stream == NULL) {
    close(directory);
    return 0;
  }
  int64_t count = 0;
  struct dirent *entry;
  while ((entry = readdir(stream)) != NULL) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    struct statx status;
    if (statx(directory, entry->d_name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &status) == 0) count++;
    if (entry->d_type != DT_DIR) continue;
    int child = openat(directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (child >= 0) count += walk(child);
  }
  closedir(stream);
  return count;
}

int64_t bench_walk_with_status(const char *root) {
  int directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return directory < 0 ? 0 : walk(directory);
}
