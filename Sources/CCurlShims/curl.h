// Declarations of the functions of libcurl that are looked up at run time, so that no `-dev` package is needed to build.
// Header only: nothing here is compiled on its own. Numbers are those of libcurl's stable binary interface (libcurl.so.4).
#ifndef C_CURL_SHIMS_H
#define C_CURL_SHIMS_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

/// CURLoption.
enum {
  shim_curl_private = 10103,
  shim_curl_url = 10002,
  shim_curl_proxy = 10004,
  shim_curl_error_buffer = 10010,
  shim_curl_headers = 10023,
  shim_curl_certificate = 10025,
  shim_curl_key_password = 10026,
  shim_curl_method = 10036,
  shim_curl_authorities = 10065,
  shim_curl_key = 10087,
  shim_curl_socket_path = 10231,
  shim_curl_write_data = 10001,
  shim_curl_header_data = 10029,
  shim_curl_read_data = 10009,
  shim_curl_read_function = 20012,
  shim_curl_write_function = 20011,
  shim_curl_header_function = 20079,
  shim_curl_body_size = 30120,
  shim_curl_no_body = 44,
  shim_curl_post = 47,
  shim_curl_fresh_connection = 74,
  shim_curl_http_version = 84,
  shim_curl_no_signal = 99,
  shim_curl_connect_milliseconds = 156,
  shim_curl_protocols = 181,
};

/// Results: CURLE_… and CURLINFO_… of easy handles.
enum {
  shim_curl_pause_write = 0x10000001,
  shim_curl_info_private = 0x100000 + 21,
  shim_curl_info_request_size = 0x200000 + 12,
};

struct curl_slist;

/// CURLMsg.
struct shim_curl_message {
  int kind;
  void *easy;
  union {
    void *other;
    int result;
  } data;
};

/// The functions that were found. Those with variable arguments are called only by the functions below.
struct shim_curl {
  int (*global_init)(long flags);
  void *(*easy_init)(void);
  void (*easy_cleanup)(void *easy);
  void *easy_setopt, *easy_getinfo;
  const char *(*easy_strerror)(int code);
  int (*easy_pause)(void *easy, int directions);
  void *(*multi_init)(void);
  int (*multi_cleanup)(void *multi);
  int (*multi_add_handle)(void *multi, void *easy);
  int (*multi_remove_handle)(void *multi, void *easy);
  int (*multi_perform)(void *multi, int *running);
  int (*multi_poll)(void *multi, void *descriptors, unsigned int count, int milliseconds, int *ready);
  int (*multi_wakeup)(void *multi);
  struct shim_curl_message *(*multi_info_read)(void *multi, int *remaining);
  void *(*slist_append)(void *list, const char *text);
  void (*slist_free_all)(void *list);
};

/// Fills the table, see dlopen(3). NULL if everything was found, else what wasn't: the name of the library or of a function. The
/// library is never closed again: it can't be while it has threads.
static inline const char *shim_curl_load(struct shim_curl *curl, const char *library) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return library;
#define SHIM_FIND(name) \
  *(void **)&curl->name = dlsym(handle, "curl_" #name); \
  if (!*(void **)&curl->name) return "curl_" #name
  SHIM_FIND(global_init);
  SHIM_FIND(easy_init);
  SHIM_FIND(easy_cleanup);
  SHIM_FIND(easy_setopt);
  SHIM_FIND(easy_getinfo);
  SHIM_FIND(easy_strerror);
  SHIM_FIND(easy_pause);
  SHIM_FIND(multi_init);
  SHIM_FIND(multi_cleanup);
  SHIM_FIND(multi_add_handle);
  SHIM_FIND(multi_remove_handle);
  SHIM_FIND(multi_perform);
  SHIM_FIND(multi_poll);
  SHIM_FIND(multi_wakeup);
  SHIM_FIND(multi_info_read);
  SHIM_FIND(slist_append);
  SHIM_FIND(slist_free_all);
#undef SHIM_FIND
  return (const char *)0;
}

// Swift can't call functions with variable arguments, and a cast to a type with fixed ones would be right only where both pass their
// arguments in the same registers: on Linux, on x86-64 but for a register with a count and on arm64, but not on Apple's arm64. So the
// compiler of C makes the calls, with the types that libcurl reads: long, pointer, pointer to a function, curl_off_t.
typedef int (*shim_curl_variadic)(void *easy, int option, ...);

static inline int shim_curl_set_number(const struct shim_curl *curl, void *easy, int option, long value) {
  return ((shim_curl_variadic)curl->easy_setopt)(easy, option, value);
}

static inline int shim_curl_set_size(const struct shim_curl *curl, void *easy, int option, int64_t value) {
  return ((shim_curl_variadic)curl->easy_setopt)(easy, option, value);
}

static inline int shim_curl_set_pointer(const struct shim_curl *curl, void *easy, int option, const void *value) {
  return ((shim_curl_variadic)curl->easy_setopt)(easy, option, value);
}

typedef size_t (*shim_curl_receiver)(char *bytes, size_t size, size_t count, void *context);

static inline int shim_curl_set_receiver(const struct shim_curl *curl, void *easy, int option, shim_curl_receiver value) {
  return ((shim_curl_variadic)curl->easy_setopt)(easy, option, value);
}

static inline long shim_curl_number(const struct shim_curl *curl, void *easy, int information) {
  long value = 0;
  return ((shim_curl_variadic)curl->easy_getinfo)(easy, information, &value) == 0 ? value : -1;
}

static inline void *shim_curl_pointer(const struct shim_curl *curl, void *easy, int information) {
  void *value = (void *)0;
  return ((shim_curl_variadic)curl->easy_getinfo)(easy, information, &value) == 0 ? value : (void *)0;
}

#endif
