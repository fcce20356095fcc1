#define _GNU_SOURCE
#include "BenchmarkShims.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

int bench_allowed_cpus(int *cpus, int capacity) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
  int count = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &set)) continue;
    if (count < capacity) cpus[count] = cpu;
    count++;
  }
  return count;
}

int bench_pin_thread(int thread, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(thread, sizeof set, &set) == 0 ? 0 : errno;
}

void bench_context_switches(uint64_t *voluntary, uint64_t *involuntary) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  *voluntary = (uint64_t)usage.ru_nvcsw;
  *involuntary = (uint64_t)usage.ru_nivcsw;
}

static uint64_t nanoseconds(struct timeval time) {
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

uint64_t bench_process_cpu_time(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place) {
  (void)status, (void)type, (void)place;
  return remove(path);
}

int bench_remove_tree(const char *path) { return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

int bench_ofd_lock(int descriptor, int type) {
  struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET};
  while (fcntl(descriptor, F_OFD_SETLKW, &lock) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

size_t bench_malloc_in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void bench_malloc_trim(void) { malloc_trim(0); }
