// Functions of the Swift runtime that the standard library calls from inlinable code. So their names and conventions are
// compiled into programs, and part of the runtime's interface.

#pragma once

#include <stdint.h>

/// The function that `withUnsafeCurrentTask` calls. Returns NULL outside of tasks.
extern void *swift_task_getCurrent(void) __attribute__((swiftcall));

/// The function behind `Task.isCancelled`.
extern _Bool swift_task_isCancelled(void *task) __attribute__((swiftcall));

/// The functions behind `TaskLocal.withValue`. `value` is consumed; `type` is the metadata of its type.
extern void swift_task_localValuePush(const void *key, void *value, const void *type) __attribute__((swiftcall));
extern void swift_task_localValuePop(void) __attribute__((swiftcall));

static inline uintptr_t shim_current_task(void) { return (uintptr_t)swift_task_getCurrent(); }

static inline _Bool shim_is_task_cancelled(uintptr_t task) { return swift_task_isCancelled((void *)task); }

static inline void shim_push_task_local(const void *key, void *value, const void *type) {
  swift_task_localValuePush(key, value, type);
}

static inline void shim_pop_task_local(void) { swift_task_localValuePop(); }
