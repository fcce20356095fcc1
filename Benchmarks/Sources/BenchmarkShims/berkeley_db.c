// Berkeley DB's lock manager, found at run time. Its methods are function pointers inside DB_ENV, whose layout is that of
// <db.h> of 5.3.28 with 64-bit pointers. Before any of them is called, each is compared with the function of that name in
// the library; a library that disagrees is reported as absent.
#define _GNU_SOURCE
#include "BenchmarkShims.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct db_env db_env;

struct dbt {
  void *data;
  uint32_t size, ulen, dlen, doff;
  void *app_data;
  uint32_t flags;
};

// `struct __db_lock_u` has 24 bytes; `bench_bdb_lock` has a word more.
typedef bench_bdb_lock db_lock;

typedef int (*lock_get_function)(db_env *, uint32_t, uint32_t, struct dbt *, int, db_lock *);
typedef int (*lock_put_function)(db_env *, db_lock *);
typedef int (*lock_id_function)(db_env *, uint32_t *);
typedef int (*lock_id_free_function)(db_env *, uint32_t);
typedef int (*open_function)(db_env *, const char *, uint32_t, int);
typedef int (*close_function)(db_env *, uint32_t);

// From offsetof() with <db.h> of 5.3.28.
enum {
  offset_close = 488,
  offset_lock_get = 984,
  offset_lock_id = 992,
  offset_lock_id_free = 1000,
  offset_lock_put = 1008,
  offset_open = 1328,
};

enum { flag_create = 0x1, flag_thread = 0x20, flag_init_lock = 0x100, flag_private = 0x10000 };
enum { mode_read = 1, mode_write = 2, flag_nowait = 0x4, not_granted = -30992 };

struct bench_bdb {
  void *library;
  db_env *env;
  lock_get_function lock_get;
  lock_put_function lock_put;
  lock_id_function lock_id;
  lock_id_free_function lock_id_free;
  close_function close;
};

static void *method(db_env *env, size_t offset) {
  void *function;
  memcpy(&function, (char *)env + offset, sizeof function);
  return function;
}

// Whether the pointer at each offset is the function that the library has under that name.
static const char *first_disagreement(void *library, db_env *env) {
  static const struct {
    size_t offset;
    const char *name;
  } methods[] = {
      {offset_close, "__env_close_pp"},     {offset_lock_get, "__lock_get_pp"},
      {offset_lock_id, "__lock_id_pp"},     {offset_lock_id_free, "__lock_id_free_pp"},
      {offset_lock_put, "__lock_put_pp"},   {offset_open, "__env_open_pp"},
  };
  for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
    void *expected = dlsym(library, methods[i].name);
    if (expected == NULL || method(env, methods[i].offset) != expected) return methods[i].name;
  }
  return NULL;
}

// Two lockers, one object: readers share it, a writer doesn't get it before they let go.
static bool excludes(bench_bdb *db) {
  uint32_t first = 0, second = 0;
  db_lock one, two, three;
  struct dbt object = {.data = "self-test", .size = 9};
  if (db->lock_id(db->env, &first) != 0 || db->lock_id(db->env, &second) != 0) return false;
  bool shared = db->lock_get(db->env, first, flag_nowait, &object, mode_read, &one) == 0 &&
                db->lock_get(db->env, second, flag_nowait, &object, mode_read, &two) == 0;
  if (!shared) return false;
  if (db->lock_put(db->env, &one) != 0) return false;
  bool refused = db->lock_get(db->env, first, flag_nowait, &object, mode_write, &three) == not_granted;
  if (!refused || db->lock_put(db->env, &two) != 0) return false;
  if (db->lock_get(db->env, first, flag_nowait, &object, mode_write, &three) != 0) return false;
  if (db->lock_put(db->env, &three) != 0) return false;
  return db->lock_id_free(db->env, first) == 0 && db->lock_id_free(db->env, second) == 0;
}

static bool open_environment(bench_bdb *db, const char *home, char *reason, size_t capacity) {
  if (sizeof(void *) != 8) return snprintf(reason, capacity, "its layout is known for 64-bit pointers only"), false;
  db->library = dlopen("libdb-5.3.so", RTLD_NOW | RTLD_LOCAL);
  if (!db->library) return snprintf(reason, capacity, "libdb-5.3.so not found (Debian: libdb5.3-dev)"), false;
  char *(*version)(int *, int *, int *) = dlsym(db->library, "db_version");
  int (*create)(db_env **, uint32_t) = dlsym(db->library, "db_env_create");
  if (!version || !create) return snprintf(reason, capacity, "libdb-5.3.so lacks db_env_create"), false;
  int major = 0, minor = 0, patch = 0;
  version(&major, &minor, &patch);
  if (major != 5 || minor != 3 || patch != 28) {
    return snprintf(reason, capacity, "version %d.%d.%d, expected 5.3.28", major, minor, patch), false;
  }
  int error = create(&db->env, 0);
  if (error != 0) return snprintf(reason, capacity, "db_env_create: error %d", error), false;
  const char *disagreement = first_disagreement(db->library, db->env);
  if (disagreement) {
    // Not closed: the method for that isn't where it should be either.
    db->env = NULL;
    return snprintf(reason, capacity, "%s isn't where the layout of 5.3.28 has it", disagreement), false;
  }
  db->close = (close_function)method(db->env, offset_close);
  db->lock_get = (lock_get_function)method(db->env, offset_lock_get);
  db->lock_put = (lock_put_function)method(db->env, offset_lock_put);
  db->lock_id = (lock_id_function)method(db->env, offset_lock_id);
  db->lock_id_free = (lock_id_free_function)method(db->env, offset_lock_id_free);
  open_function open = (open_function)method(db->env, offset_open);
  error = open(db->env, home, flag_create | flag_init_lock | flag_thread | (home ? 0 : flag_private), 0600);
  if (error != 0) return snprintf(reason, capacity, "DB_ENV->open: error %d", error), false;
  if (!excludes(db)) return snprintf(reason, capacity, "its locks don't exclude each other in the self-test"), false;
  return true;
}

bench_bdb *bench_bdb_open(const char *home, char *reason, size_t capacity) {
  bench_bdb *db = calloc(1, sizeof *db);
  if (!db) return snprintf(reason, capacity, "out of memory"), NULL;
  if (open_environment(db, home, reason, capacity)) return db;
  bench_bdb_close(db);
  return NULL;
}

void bench_bdb_close(bench_bdb *db) {
  if (db->env && db->close) db->close(db->env, 0);
  if (db->library) dlclose(db->library);
  free(db);
}

int bench_bdb_locker(bench_bdb *db, uint32_t *locker) { return db->lock_id(db->env, locker); }

int bench_bdb_free_locker(bench_bdb *db, uint32_t locker) { return db->lock_id_free(db->env, locker); }

int bench_bdb_get(
    bench_bdb *db, uint32_t locker, const void *bytes, uint32_t length, bool is_written, bench_bdb_lock *lock) {
  struct dbt object = {.data = (void *)bytes, .size = length};
  return db->lock_get(db->env, locker, 0, &object, is_written ? mode_write : mode_read, lock);
}

int bench_bdb_put(bench_bdb *db, bench_bdb_lock *lock) { return db->lock_put(db->env, lock); }
