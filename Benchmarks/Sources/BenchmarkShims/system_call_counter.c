// Counts system calls exactly and without tools: while `selector` says so, the kernel turns each system call of the
// thread into a SIGSYS instead (prctl(2), PR_SET_SYSCALL_USER_DISPATCH). The handler counts it and makes it after all,
// from code in the one range that is exempt. The return from the handler is a system call as well, so its trampoline is in
// that range, too.
#define _GNU_SOURCE
#include "BenchmarkShims.h"

#if defined(__x86_64__) && defined(__linux__)

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif

enum { allow = 0, block = 1 };

static __thread volatile uint8_t selector;
static __thread uint64_t system_calls;

__asm__(
    ".pushsection .text.bench_exempt,\"ax\",@progbits\n"
    ".globl bench_exempt_begin\n"
    ".hidden bench_exempt_begin\n"
    "bench_exempt_begin:\n"
    ".globl bench_exempt_system_call\n"
    ".hidden bench_exempt_system_call\n"
    ".type bench_exempt_system_call,@function\n"
    // (number, a, b, c, d, e, f): the C convention to that of the kernel.
    "bench_exempt_system_call:\n"
    "  movq %rdi, %rax\n"
    "  movq %rsi, %rdi\n"
    "  movq %rdx, %rsi\n"
    "  movq %rcx, %rdx\n"
    "  movq %r8, %r10\n"
    "  movq %r9, %r8\n"
    "  movq 8(%rsp), %r9\n"
    "  syscall\n"
    "  ret\n"
    ".globl bench_exempt_return\n"
    ".hidden bench_exempt_return\n"
    ".type bench_exempt_return,@function\n"
    "bench_exempt_return:\n"
    "  movq $15, %rax\n"  // rt_sigreturn
    "  syscall\n"
    // The kernel looks at the address behind the instruction, which therefore has to be in the range.
    "  ud2\n"
    ".globl bench_exempt_end\n"
    ".hidden bench_exempt_end\n"
    "bench_exempt_end:\n"
    ".popsection\n");

extern char bench_exempt_begin[], bench_exempt_end[];
extern long bench_exempt_system_call(long number, long a, long b, long c, long d, long e, long f);
extern void bench_exempt_return(void);

// The structure of the kernel's rt_sigaction; that of libc has no place for a restorer of one's own.
struct kernel_sigaction {
  void (*handler)(int, siginfo_t *, void *);
  unsigned long flags;
  void (*restorer)(void);
  unsigned long mask;
};

static void count_system_call(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  system_calls++;
  registers[REG_RAX] = bench_exempt_system_call(
      registers[REG_RAX], registers[REG_RDI], registers[REG_RSI], registers[REG_RDX], registers[REG_R10],
      registers[REG_R8], registers[REG_R9]);
}

static struct kernel_sigaction previous_action;

static long set_action(const struct kernel_sigaction *action, struct kernel_sigaction *previous) {
  return bench_exempt_system_call(SYS_rt_sigaction, SIGSYS, (long)action, (long)previous, sizeof action->mask, 0, 0);
}

bool bench_system_call_counting_begin(void) {
  struct kernel_sigaction action;
  memset(&action, 0, sizeof action);
  action.handler = count_system_call;
  action.flags = SA_SIGINFO | 0x04000000ul /* SA_RESTORER */;
  action.restorer = bench_exempt_return;
  if (set_action(&action, &previous_action) != 0) return false;
  selector = allow;
  unsigned long length = (unsigned long)(bench_exempt_end - bench_exempt_begin);
  if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, bench_exempt_begin, length, &selector) != 0) {
    set_action(&previous_action, NULL);
    return false;
  }
  system_calls = 0;
  selector = block;
  return true;
}

uint64_t bench_system_call_counting_end(void) {
  selector = allow;
  prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
  set_action(&previous_action, NULL);
  return system_calls;
}

#else

bool bench_system_call_counting_begin(void) { return false; }
uint64_t bench_system_call_counting_end(void) { return 0; }

#endif
