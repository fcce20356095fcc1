internal import CSystemShims
internal import Glibc

/// Which thread is running.
package enum CurrentThread {
  /// A number no other living thread of the process has, from pthread_self(3): one load instead of a system call.
  ///
  /// A thread that starts after this one has ended may get the same number.
  package static var current: UInt64 { UInt64(pthread_self()) }

  /// The kernel's number of the thread, as shown by `ps -L`; see gettid(2).
  package static var kernelThreadIdentifier: Int32 { shim_thread_id() }

  /// The name of the thread, as shown by `ps -L`; at most 15 bytes.
  package static var currentName: String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16) { buffer in
      unsafe buffer.initialize(repeating: 0)
      guard let start = buffer.baseAddress else { return "" }
      unsafe shim_get_thread_name(start)
      return unsafe String(cString: start)
    }
  }

  /// Whether this is the thread the process started with: its gettid(2) is the getpid(2) of the process.
  ///
  /// Don't mistake it for the main actor. Where `dispatch_main()` serves the main queue, as in programs with an
  /// asynchronous `main`, Linux runs the main actor on other threads, and the first thread is gone.
  package static var isMain: Bool { shim_thread_id() == getpid() }
}
