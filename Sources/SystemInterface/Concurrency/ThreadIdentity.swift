internal import CSystemShims
internal import Glibc

/// Which thread is running.
package enum ThreadIdentity {
  /// A number no other living thread of the process has, from pthread_self(3): one load instead of a system call.
  ///
  /// A thread that starts after this one has ended may get the same number.
  package static var current: UInt64 { UInt64(pthread_self()) }

  /// The kernel's number of the thread, as shown by `ps -L`; see gettid(2).
  package static var kernelThreadIdentifier: Int32 { shim_thread_id() }

  /// Whether this is the main thread: its gettid(2) is the getpid(2) of the process.
  package static var isMain: Bool { shim_thread_id() == getpid() }
}
