// Declarations of functions of the C library that Swift's Glibc module hides, for tests.
#ifndef C_TEST_SHIMS_H
#define C_TEST_SHIMS_H

#include <spawn.h>

extern int pipe2(int descriptors[2], int flags);

/// Since glibc 2.34: the child closes all descriptors from `first` on.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);

#endif
