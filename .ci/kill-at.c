// Kills a program right before one of its calls that change files, whichever of its threads makes it.
//
//     kill-at NUMBER PROGRAM ARGUMENT…    NUMBER counts the calls of all threads and children from 1; with 0 it lists them, and kills nothing
//
// The calls are printed on standard error as "CALL NUMBER NAME PATH". Ends with the status of the program, or 137 when it was killed.
// strace(1) counts the calls of each thread on its own, so that it can't reach every one of a program whose threads take turns.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

// `path` is the argument with the path; a negative one says that the first argument is a descriptor.
static const struct { long number; const char *name; int path; } calls[] = {
    {SYS_openat, "openat", 1},       {SYS_openat2, "openat2", 1},       {SYS_renameat, "renameat", 1},
    {SYS_renameat2, "renameat2", 1}, {SYS_linkat, "linkat", 1},         {SYS_unlinkat, "unlinkat", 1},
    {SYS_mkdirat, "mkdirat", 1},     {SYS_symlinkat, "symlinkat", 2},   {SYS_write, "write", -1},
    {SYS_pwrite64, "pwrite64", -1},  {SYS_fsync, "fsync", -1},          {SYS_fdatasync, "fdatasync", -1},
    {SYS_ftruncate, "ftruncate", -1}, {SYS_ioctl, "ioctl", -1},         {SYS_copy_file_range, "copy_file_range", -1},
    {SYS_setxattr, "setxattr", 0},   {SYS_lsetxattr, "lsetxattr", 0},   {SYS_fsetxattr, "fsetxattr", -1},
    {SYS_fremovexattr, "fremovexattr", -1}, {SYS_fchmod, "fchmod", -1}, {SYS_fchown, "fchown", -1},
    {SYS_utimensat, "utimensat", 1},
};
enum { callCount = sizeof calls / sizeof *calls };

static void pathOfDescriptor(pid_t thread, int descriptor, char path[256]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/%d/fd/%d", thread, descriptor);
  ssize_t length = readlink(link, path, 255);
  path[length > 0 ? length : 0] = 0;
}

static void pathAt(pid_t thread, unsigned long address, char path[256]) {
  size_t inPage = 4096 - address % 4096;
  struct iovec local = {path, 255}, remote = {(void *)address, inPage < 255 ? inPage : 255};
  ssize_t length = process_vm_readv(thread, &local, 1, &remote, 1, 0);
  path[length > 0 ? length : 0] = 0;
}

// Opens for reading, and writes to pipes and terminals, change no file.
static int changesFiles(pid_t thread, const struct user_regs_struct *registers) {
  unsigned long flags = 0;
  char path[256];
  switch (registers->orig_rax) {
  case SYS_openat: flags = registers->rdx; break;
  case SYS_openat2: flags = ptrace(PTRACE_PEEKDATA, thread, (void *)registers->rdx, 0); break;
  case SYS_ioctl: return registers->rsi == FICLONE;
  case SYS_write:
  case SYS_pwrite64:
    pathOfDescriptor(thread, registers->rdi, path);
    return path[0] == '/' && strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0;
  default: return 1;
  }
  return (flags & (O_CREAT | O_TRUNC)) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

static void describe(pid_t thread, const struct user_regs_struct *registers, long number) {
  const unsigned long arguments[] = {registers->rdi, registers->rsi, registers->rdx};
  for (int i = 0; i < callCount; i++) {
    if (calls[i].number != (long)registers->orig_rax) continue;
    char path[256];
    if (calls[i].path < 0) pathOfDescriptor(thread, registers->rdi, path);
    else pathAt(thread, arguments[calls[i].path], path);
    dprintf(2, "CALL %ld %s %s\n", number, calls[i].name, path);
  }
}

// Only these calls stop, so the program is hardly slower.
static void run(char **command) {
  struct sock_filter filter[callCount + 3];
  int count = 0;
  filter[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < callCount; i++)
    filter[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, callCount - i, 0);
  filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
  struct sock_fprog program = {count, filter};
  if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(126);
  raise(SIGSTOP);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(126);
  execvp(command[0], command);
  _exit(127);
}

int main(int argumentCount, char **arguments) {
  if (argumentCount < 3) return 64;
  long last = atol(arguments[1]), number = 0;
  pid_t child = fork();
  if (child == 0) run(arguments + 2);
  int status, result = 126, isKilled = 0;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, 0,
         PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL);
  ptrace(PTRACE_CONT, child, 0, 0);
  for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (thread == child) result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      continue;
    }
    int event = status >> 16, signal = WSTOPSIG(status);
    struct user_regs_struct registers;
    if (event == PTRACE_EVENT_SECCOMP && !isKilled && ptrace(PTRACE_GETREGS, thread, 0, &registers) == 0 &&
        changesFiles(thread, &registers)) {
      number++;
      if (last == 0 || number == last) describe(thread, &registers, number);
      if (number == last) {
        // The call isn't made: a process that's about to die makes none.
        isKilled = 1;
        kill(child, SIGKILL);
      }
    }
    ptrace(PTRACE_CONT, thread, 0, event != 0 || signal == SIGSTOP || signal == SIGTRAP ? 0 : signal);
  }
  return result;
}
