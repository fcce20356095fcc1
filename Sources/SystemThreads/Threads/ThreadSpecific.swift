internal import Glibc

/// A pointer that each thread has of its own; see pthread_key_create(3).
@safe
package struct ThreadSpecific: Sendable {
  private let key: pthread_key_t

  /// Reserves a key, of which a process has 1024, for ever.
  ///
  /// - Parameter destructor: Called at the end of each thread whose pointer isn't `nil`, with that pointer.
  package init(destructor: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void) {
    var key = pthread_key_t()
    let code = unsafe pthread_key_create(&key, destructor)
    precondition(code == 0, "pthread_key_create failed with errno \(code): the process has no key left")
    self.key = key
  }

  /// The pointer of the calling thread; `nil` until it's set.
  package var pointer: UnsafeMutableRawPointer? {
    get { unsafe pthread_getspecific(key) }
    nonmutating set {
      let code = unsafe pthread_setspecific(key, newValue)
      precondition(code == 0, "pthread_setspecific failed with errno \(code)")
    }
  }
}
