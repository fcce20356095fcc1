internal import Glibc

/// Descriptors that a process keeps for when it has no others left.
///
/// Any thread may fill and release it. Between the release and the use another thread may be faster.
package final class DescriptorReserve: Sendable {
  private let count: Int
  private let kept = Guarded<[OwnedDescriptor]>([])

  /// Creates an empty reserve.
  ///
  /// - Parameter count: How many descriptors it keeps when it's full.
  package init(count: Int) { self.count = count }

  /// Takes as many descriptors as are missing, or as there are.
  package func fill() {
    kept.withLock { kept in
      while kept.count < count {
        guard let number = try? HostFileSystem().open(.root, at: .workingDirectory, flags: .pathOnly, mode: 0) else {
          return
        }
        kept.append(OwnedDescriptor(number.rawValue))
      }
    }
  }

  /// Lets others have the descriptors.
  package func release() { kept.withLock { $0 = [] } }
}
