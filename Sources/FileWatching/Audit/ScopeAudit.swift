public import SystemInterface

/// The result of comparing an index with a fresh walk through the file system.
///
/// - Note: Rule L17.
public struct ScopeAudit: Hashable, Sendable {
  /// One path at which the index and the file system differ.
  public struct Difference: Hashable, Sendable, CustomStringConvertible {
    /// The kind of difference.
    public enum Fault: Hashable, Sendable {
      /// The file is there, and the index doesn't have it; if it's a directory, its contents aren't listed.
      case missing
      /// The index has a file that isn't there.
      case surplus
      /// The index has other values; there's at least one.
      case outdated([Value])
    }

    /// One value that the index has and the file hasn't.
    public struct Value: Hashable, Sendable {
      /// The property that has the values.
      public let aspect: Aspect
      /// The value in the index; times in nanoseconds since 1970.
      public let indexed: Int64
      /// The value in the file system.
      public let found: Int64
    }

    /// The absolute path, byte by byte.
    public let path: SystemPath
    /// The kind of difference.
    public let fault: Fault

    /// The fault, the path, and the values that differ.
    public var description: String {
      switch fault {
      case .missing: return "missing \(path)"
      case .surplus: return "surplus \(path)"
      case .outdated(let values):
        let list = values.map { "\($0.aspect.rawValue) \($0.indexed) instead of \($0.found)" }
        return "outdated \(path): \(list.joined(separator: ", "))"
      }
    }
  }

  /// The properties of a file in an index.
  public enum Aspect: String, Hashable, Sendable, CaseIterable {
    /// Kind and permissions, `st_mode`.
    case mode
    case owner
    case group
    /// In bytes.
    case size
    case modificationTime
    case changeTime
    case creationTime
    case device
    case inode
  }

  /// How many files the walk met.
  public let fileCount: Int
  /// The differences, by path.
  public let differences: [Difference]
  /// How many paths differed and went on changing, so that no statement about them is possible.
  public let unsettledCount: Int

  /// Whether the index agrees with the file system.
  public var isClean: Bool { differences.isEmpty }

  /// Makes an audit, as a test of code that takes audits does.
  ///
  /// - Parameters:
  ///   - fileCount: How many files the walk met.
  ///   - differences: The differences.
  ///   - unsettledCount: How many paths went on changing.
  public init(fileCount: Int, differences: [Difference], unsettledCount: Int = 0) {
    self.fileCount = fileCount
    self.differences = differences
    self.unsettledCount = unsettledCount
  }
}

extension ScopeAudit.Difference.Value {
  /// The differences between two sets of facts; if only the name of a file has been read, only in the facts that come
  /// with it.
  static func differences(_ indexed: FileFacts, _ found: FileFacts) -> [Self] {
    var pairs: [(ScopeAudit.Aspect, Int64, Int64)] = [
      (.inode, Int64(bitPattern: indexed.identity.inode), Int64(bitPattern: found.identity.inode))
    ]
    // Beyond the number of devices and owners that the index has room for, it has none.
    if indexed.identity.device != 0 {
      pairs.append((.device, Int64(bitPattern: indexed.identity.device), Int64(bitPattern: found.identity.device)))
    }
    if indexed.isRead, indexed.identity.device != 0 {
      pairs += [
        (.owner, Int64(indexed.owner), Int64(found.owner)), (.group, Int64(indexed.group), Int64(found.group)),
      ]
    }
    if indexed.isRead {
      pairs += [
        (.mode, Int64(indexed.mode), Int64(found.mode)), (.size, indexed.size, found.size),
        (.modificationTime, indexed.modificationTime, found.modificationTime),
        (.changeTime, indexed.changeTime, found.changeTime),
        (.creationTime, indexed.creationTime ?? 0, found.creationTime ?? 0),
      ]
    } else if indexed.kind != found.kind {
      pairs.append((.mode, Int64(indexed.mode), Int64(found.mode)))
    }
    return pairs.filter { $0.1 != $0.2 }.map { Self(aspect: $0.0, indexed: $0.1, found: $0.2) }
  }
}
