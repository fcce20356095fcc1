// Counts allocations by standing in for malloc and its relatives: a definition in the executable comes before that of
// libc for every library of the process. Each call is passed on to glibc's own name for it.
#define _GNU_SOURCE
#include "BenchmarkShims.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static __thread uint64_t allocations;
// Of all threads, while somebody wants to know: otherwise threads would share a cache line for nothing.
static atomic_bool counts_all_threads;
static _Atomic uint64_t allocations_of_all_threads;

uint64_t bench_allocation_count(void) { return allocations; }

void bench_count_allocations_of_all_threads(bool is_wanted) {
  atomic_store_explicit(&counts_all_threads, is_wanted, memory_order_relaxed);
}

uint64_t bench_allocation_count_of_all_threads(void) {
  return atomic_load_explicit(&allocations_of_all_threads, memory_order_relaxed);
}

static void note_allocation(void) {
  allocations++;
  if (__builtin_expect(atomic_load_explicit(&counts_all_threads, memory_order_relaxed), false)) {
    atomic_fetch_add_explicit(&allocations_of_all_threads, 1, memory_order_relaxed);
  }
}

void *malloc(size_t size) {
  note_allocation();
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  note_allocation();
  return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
  note_allocation();
  return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
  note_allocation();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  note_allocation();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  note_allocation();
  void *result = __libc_memalign(alignment, size);
  if (result == NULL) return ENOMEM;
  *memory = result;
  return 0;
}
