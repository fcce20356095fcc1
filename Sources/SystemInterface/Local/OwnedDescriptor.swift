internal import Glibc
internal import Synchronization

/// Something that owns a descriptor and can be watched by a ``ReadinessPoller``.
package protocol DescriptorOwner: AnyObject, Sendable {
  /// The descriptor, which the object doesn't share.
  var descriptor: OwnedDescriptor { get }
}

/// A descriptor that is closed once, and never under a running call; children of fork(2) don't keep it.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `users` | itself: the number of running calls, and ``closedMark`` | a call must notice that it is too late, and the last one that it has to close |
///
/// A number that is closed while a call uses it may name another file before the call gets to the kernel. So a call
/// counts as a user while it runs, and the last user closes: ``close()``, or the last call after it.
package final class OwnedDescriptor: Sendable {
  private let number: Int32
  private let users = Atomic<UInt32>(0)

  /// The bit of `users` that lets no more calls begin.
  private static let closedMark: UInt32 = 1 << 31

  /// Takes over a descriptor.
  ///
  /// - Parameter number: An open descriptor that no other owner closes.
  init(_ number: Int32) {
    precondition(number >= 0, "\(number) is no descriptor")
    self.number = number
    DescriptorsOfParent.insert(number)
  }

  deinit {
    close()
  }

  /// Whether ``close()`` was called.
  package var isClosed: Bool { users.load(ordering: .acquiring) & Self.closedMark != 0 }

  /// Closes the descriptor as soon as no call uses it; later calls fail with EBADF.
  package func close() {
    let previous = users.bitwiseOr(Self.closedMark, ordering: .acquiringAndReleasing).oldValue
    if previous == 0 { closeNumber() }
  }

  private func closeNumber() {
    if DescriptorsOfParent.remove(number) { Glibc.close(number) }
  }

  /// Makes a call of the kernel until it isn't interrupted by a signal, and turns -1 into an error.
  ///
  /// - Parameters:
  ///   - call: The call with its manual section, for the error.
  ///   - path: The path given to the call, for the error.
  ///   - body: Makes the call with the descriptor's number, which it must not keep.
  /// - Returns: The result of the call.
  /// - Throws: The error of the call; EBADF when the descriptor is closed.
  @discardableResult
  func checked<Result: SignedInteger>(
    _ call: String, _ path: SystemPath? = nil, _ body: (_ number: Int32) -> Result
  ) throws(SystemError) -> Result {
    try withNumber(call, path) { (number) throws(SystemError) in try checkedCall(call, path) { body(number) } }
  }

  /// Keeps the descriptor open while `body` runs.
  ///
  /// - Parameters:
  ///   - call: The name of the call in `body`, for the error.
  ///   - path: The path of the file, for the error.
  ///   - body: Uses the descriptor's number, which it must not keep.
  /// - Returns: The result of `body`.
  /// - Throws: EBADF when the descriptor is closed; the error of `body`.
  func withNumber<Result>(
    _ call: String, _ path: SystemPath? = nil, _ body: (_ number: Int32) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    guard beginUse() else { throw SystemError(call: call, paths: path.map { [$0] } ?? [], errno: EBADF) }
    defer { endUse() }
    return try body(number)
  }

  /// Keeps the descriptor open while `body` runs; does nothing if it's closed, or was closed because this is a forked child.
  ///
  /// - Parameter body: Uses the descriptor's number, which it must not keep.
  func withOwnNumber(_ body: (_ number: Int32) -> Void) {
    guard beginUse() else { return }
    defer { endUse() }
    if DescriptorsOfParent.contains(number) { body(number) }
  }

  private func beginUse() -> Bool {
    var current = users.load(ordering: .relaxed)
    while current & Self.closedMark == 0 {
      let exchange = users.weakCompareExchange(
        expected: current, desired: current + 1, successOrdering: .acquiring, failureOrdering: .relaxed)
      if exchange.exchanged { return true }
      current = exchange.original
    }
    return false
  }

  private func endUse() {
    let remaining = users.subtract(1, ordering: .acquiringAndReleasing).newValue
    if remaining == Self.closedMark { closeNumber() }
  }
}

/// Makes a call of the kernel until it isn't interrupted by a signal, and turns -1 into an error.
///
/// - Parameters:
///   - call: The call with its manual section, for the error.
///   - path: The path given to the call, for the error.
///   - body: Makes the call.
/// - Returns: The result of the call.
/// - Throws: The error of the call.
@discardableResult
func checkedCall<Result: SignedInteger>(
  _ call: String, _ path: SystemPath? = nil, _ body: () -> Result
) throws(SystemError) -> Result {
  while true {
    let result = body()
    if result >= 0 { return result }
    let code = Glibc.errno
    if code != EINTR { throw SystemError(call: call, paths: path.map { [$0] } ?? [], errno: code) }
  }
}
