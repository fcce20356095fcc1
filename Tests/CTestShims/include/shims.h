// Declarations of functions of the C library that Swift's Glibc module hides, for tests.
#ifndef C_TEST_SHIMS_H
#define C_TEST_SHIMS_H

#include <spawn.h>

extern int pipe2(int descriptors[2], int flags);

/// Since glibc 2.34: the child closes all descriptors from `first` on.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);

/// A TCP socket that listens on 127.0.0.1, and its port; -1 with errno on an error.
extern int test_listen(int *port);
/// The next connection; -1 with errno on an error, also after shutdown(2) of the listener.
extern int test_accept(int listener);
/// A Unix-domain socket that listens at a path; -1 with errno on an error.
extern int test_listen_locally(const char *path);
/// A connection to a port of 127.0.0.1; -1 with errno on an error.
extern int test_connect(int port);
/// Ends both directions of a connection; other threads that read or write get the end.
extern void test_shut_down(int connection);
/// send(2) without a signal when the peer is gone.
extern long test_send(int connection, const void *bytes, unsigned long count);
/// setfsuid(2), of the calling thread alone.
extern int setfsuid(unsigned int user);
/// setenv(3).
extern int test_set_environment(const char *name, const char *value);

#endif
