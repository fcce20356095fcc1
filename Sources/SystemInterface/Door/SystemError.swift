internal import Glibc

/// A kernel call that failed: which call, on which paths, and why.
///
/// ```
/// rename(2) '/a/b' to '/a/c' failed: No space left on device (ENOSPC)
/// ```
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The call with its manual section, such as `rename(2)`, or the operation that refused its arguments.
  public var call: String

  /// The paths given to the call; two for a rename or a link, none when the call was given only a descriptor.
  public var paths: [SystemPath]

  /// The error number, as in errno(3).
  public var errno: Int32

  /// The remedy, when there is one; appended to the description.
  public var advice: String?

  /// Whether the change was made nevertheless: only a step after it has failed.
  ///
  /// A replaced item couldn't be removed, and is at ``leftover``, or the change may not survive a power failure.
  public var isChangeInPlace = false

  /// Where an item is left that nobody needs after the change, and that couldn't be removed; an absolute path.
  public var leftover: SystemPath?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - call: The call with its manual section, such as `rename(2)`.
  ///   - paths: The paths given to the call.
  ///   - errno: The error number.
  ///   - advice: The reader's remedy.
  public init(call: String, paths: [SystemPath] = [], errno: Int32, advice: String? = nil) {
    self.call = call
    self.paths = paths
    self.errno = errno
    self.advice = advice
  }

  /// Creates the error of a call of the door.
  ///
  /// - Parameters:
  ///   - call: The call that failed.
  ///   - paths: The paths given to the call.
  ///   - errno: The error number.
  package init(_ call: SystemCall, paths: [SystemPath] = [], errno: Int32) {
    self.init(call: call.rawValue, paths: paths, errno: errno)
  }

  /// The call, its paths, the reason as text and symbol, and advice if there is any.
  public var description: String {
    let names = paths.map { "'\($0)'" }.joined(separator: " to ")
    let subject = names.isEmpty ? call : "\(call) \(names)"
    let reason = "\(subject) failed: \(Self.message(of: errno)) (\(Self.symbol(of: errno)))"
    return advice.map { "\(reason). \($0)" } ?? reason
  }

  private static func message(of errno: Int32) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      // The POSIX form, which returns 0; `strerror` shares one buffer between threads.
      guard let start = buffer.baseAddress, unsafe strerror_r(errno, start, buffer.count) == 0 else {
        return "Error \(errno)"
      }
      return unsafe String(cString: start)
    }
  }
}

extension SystemError {
  /// The same error with full paths: relative ones placed in `directory`, and `subject` when the call had none.
  func located(in directory: SystemPath, subject: SystemPath) -> SystemError {
    var located = self
    located.paths = paths.isEmpty ? [subject] : paths.map { directory.appending($0) }
    located.leftover = leftover.map { directory.appending($0) }
    return located
  }

  /// Whether the error number is one of `numbers`.
  func isOne(of numbers: Int32...) -> Bool {
    numbers.contains(errno)
  }

  /// Whether the kernel or the file system doesn't support the operation, so that another way has to be tried.
  package var isUnsupported: Bool {
    isOne(of: EINVAL, ENOSYS, EOPNOTSUPP)
  }
}

/// Runs `body`; its errors name full paths, see ``SystemError/located(in:subject:)``.
package func locatingErrors<Result>(
  at path: SystemPath, _ body: () throws(SystemError) -> Result
) throws(SystemError) -> Result {
  do {
    return try body()
  } catch {
    throw error.located(in: path.parent, subject: path)
  }
}
