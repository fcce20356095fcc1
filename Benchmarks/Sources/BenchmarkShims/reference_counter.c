// Counts retains and releases through the hooks of the Swift runtime: `swift_retain` calls the function in the variable
// `_swift_retain` when the flag for instruments is set. Both are exported by libswiftCore.
#define _GNU_SOURCE
#include "BenchmarkShims.h"

#include <dlfcn.h>
#include <stdatomic.h>

typedef void *(*retain_function)(void *object);
typedef void (*release_function)(void *object);
typedef void *(*retain_n_function)(void *object, uint32_t count);
typedef void (*release_n_function)(void *object, uint32_t count);

static struct {
  retain_function *retain;
  release_function *release;
  retain_n_function *retain_n;
  release_n_function *release_n;
  retain_function *try_retain;
  _Atomic(bool) *flag;
} hooks;

static struct {
  retain_function retain;
  release_function release;
  retain_n_function retain_n;
  release_n_function release_n;
  retain_function try_retain;
} originals;

static __thread bool is_counting;
static __thread uint64_t retains;
static __thread uint64_t releases;

// Not inside another: the runtime's own functions may call each other through the hooks.
static void *counting_retain(void *object) {
  if (is_counting) retains++;
  return originals.retain(object);
}

static void counting_release(void *object) {
  if (is_counting) releases++;
  originals.release(object);
}

static void *counting_retain_n(void *object, uint32_t count) {
  if (is_counting) retains += count;
  return originals.retain_n(object, count);
}

static void counting_release_n(void *object, uint32_t count) {
  if (is_counting) releases += count;
  originals.release_n(object, count);
}

static void *counting_try_retain(void *object) {
  if (is_counting) retains++;
  return originals.try_retain(object);
}

extern void *swift_retain(void *object);
extern void swift_release(void *object);

void bench_retain_and_release(void *object) { swift_release(swift_retain(object)); }

bool bench_reference_counting_begin(void) {
  hooks.retain = dlsym(RTLD_DEFAULT, "_swift_retain");
  hooks.release = dlsym(RTLD_DEFAULT, "_swift_release");
  hooks.retain_n = dlsym(RTLD_DEFAULT, "_swift_retain_n");
  hooks.release_n = dlsym(RTLD_DEFAULT, "_swift_release_n");
  hooks.try_retain = dlsym(RTLD_DEFAULT, "_swift_tryRetain");
  hooks.flag = dlsym(RTLD_DEFAULT, "_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly");
  if (!hooks.retain || !hooks.release || !hooks.retain_n || !hooks.release_n || !hooks.try_retain || !hooks.flag) {
    return false;
  }
  originals.retain = *hooks.retain;
  originals.release = *hooks.release;
  originals.retain_n = *hooks.retain_n;
  originals.release_n = *hooks.release_n;
  originals.try_retain = *hooks.try_retain;
  *hooks.retain = counting_retain;
  *hooks.release = counting_release;
  *hooks.retain_n = counting_retain_n;
  *hooks.release_n = counting_release_n;
  *hooks.try_retain = counting_try_retain;
  // After the functions: other threads may retain at any moment, and may then already use them.
  atomic_store(hooks.flag, true);
  retains = 0;
  releases = 0;
  is_counting = true;
  return true;
}

void bench_reference_counting_end(uint64_t *retain_count, uint64_t *release_count) {
  is_counting = false;
  atomic_store(hooks.flag, false);
  *hooks.retain = originals.retain;
  *hooks.release = originals.release;
  *hooks.retain_n = originals.retain_n;
  *hooks.release_n = originals.release_n;
  *hooks.try_retain = originals.try_retain;
  *retain_count = retains;
  *release_count = releases;
}
