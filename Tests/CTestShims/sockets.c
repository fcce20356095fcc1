#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "include/shims.h"

static int listening(int descriptor, const void *address, socklen_t length) {
  if (descriptor < 0) return -1;
  if (bind(descriptor, address, length) == 0 && listen(descriptor, 1024) == 0) return descriptor;
  close(descriptor);
  return -1;
}

int test_listen(int *port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int descriptor = listening(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), &address, length);
  if (descriptor < 0) return -1;
  if (getsockname(descriptor, (struct sockaddr *)&address, &length) != 0) return -1;
  *port = ntohs(address.sin_port);
  return descriptor;
}

int test_listen_locally(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  return listening(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), &address, sizeof address);
}

int test_accept(int listener) {
  int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC), one = 1;
  // Each piece of the test is a packet of its own. Fails for Unix-domain sockets, where it isn't needed.
  if (connection >= 0) setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return connection;
}

void test_shut_down(int connection) { shutdown(connection, SHUT_RDWR); }

long test_send(int connection, const void *bytes, unsigned long count) {
  return send(connection, bytes, count, MSG_NOSIGNAL);
}

int test_set_environment(const char *name, const char *value) { return setenv(name, value, 1); }

int test_connect(int port) {
  int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  if (connection >= 0 && connect(connection, (struct sockaddr *)&address, sizeof address) != 0) {
    close(connection);
    return -1;
  }
  return connection;
}
