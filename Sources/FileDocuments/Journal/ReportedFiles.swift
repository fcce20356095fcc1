internal import SystemInterface

/// Files that were reported, so that each of them is reported once.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `files` | its lock | documents look for journals on any thread |
final class ReportedFiles: Sendable {
  private struct File: Hashable, Sendable {
    let path: SystemPath
    let identity: FileIdentity?
    let time: Int64?
  }

  /// How many are remembered; more than these are reported each time.
  static let countMax = 4096

  private let files = Guarded<Set<File>>([])

  /// - Parameters:
  ///   - path: The file.
  ///   - status: Its status now: when it's written or replaced, it's another one.
  /// - Returns: Whether it's to be reported.
  func note(_ path: SystemPath, _ status: FileStatus?) -> Bool {
    let file = File(path: path, identity: status?.identity, time: status?.modificationTime)
    return files.withLock { files in
      if files.contains(file) { return false }
      if files.count < Self.countMax { files.insert(file) }
      return true
    }
  }
}
