#include <stdlib.h>

// All tests share a few threads. If the testing library starts them all at once, each suspension of one sends it to the end of a line of
// some thousand others, and it exceeds its time limits only because the machine is slow. So it starts a few at a time, unless the
// environment says otherwise. Before `main`, because the library reads that first.
__attribute__((constructor)) static void limit_parallelization(void) {
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "12", 0);
}

// Otherwise tests that don't say in which domain they coordinate take part in that of the user: they would wait for any other program
// there, perhaps of another version, and it for them.
__attribute__((constructor)) static void stay_alone(void) { setenv("FILE_COORDINATION_DOMAIN", "process", 0); }
