internal import FileCoordination
internal import FoundationEssentials
internal import SystemInterface

// The lock of a file: the permission of its owner to write.

extension FileStatus {
  /// The permission bit that's missing from a locked file.
  static var ownerWriteBit: UInt32 { 0o200 }

  /// Whether the owner may not write the file; the superuser respects that as well.
  var isLocked: Bool { mode & Self.ownerWriteBit == 0 }
}

extension DocumentWork {
  /// Locks the file, or unlocks it; nothing else about it is changed.
  @concurrent
  func setLock(_ isLocked: Bool) async -> ErrandOutcome {
    do {
      try await renewGrant()
      try await withFile { asked, check in
        try await coordinator.write(asked, options: .contentIndependentMetadataOnly) { access in
          try check(access)
          let (files, path) = (files, access.canonicalPath)
          try await Offload.run { () throws(SystemError) in try files.setLock(isLocked, of: path) }
        }
      }
      return .done
    } catch let error as SystemError where error.isRefusal {
      return .failed(Self.refusal(isLocked, error, presence))
    } catch { return .failed(DocumentError(error)) }
  }

  /// Lets a copy of a locked file be written: people make one to edit it.
  ///
  /// A copy that can't be unlocked is a copy nevertheless.
  func unlockCopy(at url: URL) async {
    guard let path = try? coordinator.canonicalPath(of: url),
      (try? files.statusIfPresent(of: path))?.isLocked == true
    else { return }
    try? await coordinator.write(url, options: .contentIndependentMetadataOnly) { access in
      let (files, path) = (files, access.canonicalPath)
      try await Offload.run { () throws(SystemError) in try files.setLock(false, of: path) }
    }
  }

  private static func refusal(_ isLocked: Bool, _ error: SystemError, _ presence: DocumentPresence?) -> DocumentError {
    let path = presence?.presenter.url.path ?? ""
    return DocumentError(
      .notWritable,
      "'\(path)' can't be \(isLocked ? "locked" : "unlocked"): only its owner may do that, on a volume that can be written. \(error)",
      underlyingError: error)
  }
}

extension FileSystem {
  fileprivate func setLock(_ isLocked: Bool, of path: SystemPath) throws(SystemError) {
    try withDescriptor(path, flags: [.pathOnly, .noFollow]) { (file) throws(SystemError) in
      let mode = try status(of: file).mode
      let wished = isLocked ? mode & ~FileStatus.ownerWriteBit : mode | FileStatus.ownerWriteBit
      if wished != mode { try setMode(of: file, to: wished) }
    }
  }
}
