internal import Glibc

/// Whether a file that's replaced has to be one that this process may write to.
package enum WritePermission {
  case required
  /// The permission to change the directory is enough, as for rename(2).
  case ignored
}

extension FileSystem {
  /// Saves a file safely: readers and crashes see all of the old contents or all of the new ones.
  ///
  /// The contents are written to a temporary file beside the old one, brought to the disk, and renamed over it. Mode,
  /// owner, group and extended attributes of the old file are kept. Where the owner or the group can't be, set-id bits
  /// go; where the group or the access list can't be, group and others get at most the permissions that both had. A new
  /// file gets mode `0o666` less the umask. Other hard links to the old file keep the old contents.
  ///
  /// Blocks until the contents are on the disk. Of two calls at once one wins, whole.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - contents: Its new contents.
  ///   - permission: Whether the permissions of the old file have to allow it.
  ///   - target: The files whose place it may take.
  /// - Throws: EISDIR for a directory, EINVAL for a symbolic link or another special file, EACCES for a file that this
  ///   process may not write to, or the error of the call that failed. The old file is untouched then and no temporary is left, with one exception: when the last call,
  ///   fsync(2) on the directory, fails, the new contents are in place but may be lost with the power.
  /// - Complexity: O(*n*) in the number of bytes; about sixteen system calls, two of which wait for the disk.
  /// - Note: rename(2), fsync(2), open(2) on `O_TMPFILE`.
  package func replaceContents(
    of path: SystemPath, with contents: [UInt8], permission: WritePermission = .required, over target: SaveTarget = .any
  ) throws(SystemError) {
    try replaceContents(of: path, with: contents, permission: permission, over: target, settling: synchronize)
  }

  /// Saves a file safely, like ``replaceContents(of:with:permission:)``, together with something else.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - contents: Its new contents.
  ///   - permission: Whether the permissions of the old file have to allow it.
  ///   - target: The files whose place it may take.
  ///   - settle: Brings the complete new file to the disk, right before it takes the place of the old one, and whatever else has to be
  ///     there by then.
  /// - Throws: As above, or the error of `settle`.
  package func replaceContents(
    of path: SystemPath, with contents: [UInt8], permission: WritePermission = .required,
    over target: SaveTarget = .any,
    settling settle: (FileDescriptor) throws(SystemError) -> Void
  ) throws(SystemError) {
    try replace(path, permission, .over(target), settling: settle) { (file) throws(SystemError) in
      try writeAll(contents, to: file)
    }
  }

  /// Saves a file safely, like ``replaceContents(of:with:permission:)``, with the contents of another one.
  ///
  /// The file system shares their blocks if it can.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - source: A regular file that nobody changes meanwhile.
  ///   - mode: The permissions of a file that isn't there yet; `0o666` less the umask unless stated.
  ///   - permission: Whether the permissions of the old file have to allow it.
  ///   - target: The files whose place it may take.
  /// - Throws: As above, and errors of reading `source`.
  package func replaceContents(
    of path: SystemPath, withContentsOf source: SystemPath, mode: UInt32? = nil,
    permission: WritePermission = .required, over target: SaveTarget = .any
  ) throws(SystemError) {
    try replaceContents(
      of: path, withContentsOf: source, mode: mode, permission: permission, over: target, settling: synchronize)
  }

  /// The same together with something else, as ``replaceContents(of:with:permission:over:settling:)``.
  package func replaceContents(
    of path: SystemPath, withContentsOf source: SystemPath, mode: UInt32? = nil,
    permission: WritePermission = .required, over target: SaveTarget = .any,
    settling settle: (FileDescriptor) throws(SystemError) -> Void
  ) throws(SystemError) {
    let isNew = try statusIfPresent(of: path) == nil
    try withDescriptor(source.parent, flags: .directory) { (directory) throws(SystemError) in
      let item = DirectoryItem(name: source.lastComponent, directory: directory, place: source.parent)
      try replace(path, permission, .over(target), settling: settle) { (file) throws(SystemError) in
        try copyContents(of: item, to: file)
        if let mode, isNew { try setMode(of: file, to: mode) }
      }
    }
  }

  /// Saves a file in an open directory safely, like ``replaceContents(of:with:permission:)``.
  ///
  /// - Parameters:
  ///   - name: A single component.
  ///   - directory: The directory that holds it, or will.
  ///   - contents: Its new contents.
  /// - Throws: As above; the paths of errors are relative to `directory`.
  package func replaceContents(
    of name: SystemPath, at directory: FileDescriptor, with contents: [UInt8]
  ) throws(SystemError) {
    try replace(name, at: directory, in: SystemPath(""), .required, .over(.any), settling: synchronize) {
      (file) throws(SystemError) in
      try writeAll(contents, to: file)
    }
    try synchronizeAfterCommit(directory)
  }

  /// Saves a file in an open directory safely, but only over the very file that the caller has looked at, or where nothing was.
  ///
  /// As ``replaceContents(of:with:expecting:meeting:noting:)`` does.
  ///
  /// - Parameters:
  ///   - name: A single component.
  ///   - directory: The directory that holds it, or will.
  ///   - contents: Its new contents.
  ///   - status: The file's status when it was looked at; `nil` if nothing was there.
  ///   - compare: Reads the file that comes out, and returns whether it has the bytes that were read before.
  /// - Throws: As there; the paths of errors are relative to `directory`.
  package func replaceContents(
    of name: SystemPath, at directory: FileDescriptor, with contents: [UInt8], expecting status: FileStatus?,
    comparing compare: ((_ former: FileDescriptor) throws(SystemError) -> Bool)? = nil
  ) throws(SystemError) {
    let expectation = ExpectedFile(status: status, hasContents: compare) { _ in }
    try replace(name, at: directory, in: SystemPath(""), .required, .expecting(expectation), settling: synchronize) {
      (file) throws(SystemError) in try writeAll(contents, to: file)
    }
    try synchronizeAfterCommit(directory)
  }

  /// Saves a file safely, like ``replaceContents(of:with:permission:)``, but only over the very file that the caller has read.
  ///
  /// The new file and the old one change places in one step, and the file that comes out is inspected: if it's another file, or was
  /// written since, it goes back. So a file that was moved or removed isn't made again, and unread contents aren't overwritten. The
  /// exception is a write within one tick of the file system's clock that doesn't change the size. File systems that can't exchange
  /// names compare right before the replacement.
  ///
  /// A program that has mapped the file may change its bytes and not its status, see mmap(2), so the caller compares them once more. Its
  /// later stores are in the former file, which has no name any more.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - contents: Its new contents.
  ///   - status: The file's status before it was read.
  ///   - compare: Reads the file that comes out, and returns whether it has the bytes that were read before.
  ///   - meet: Called with the name of the new file beside the old one, right before it takes its place.
  ///   - note: Called after each piece of a mebibyte with the number of bytes written; may stop the writing.
  /// - Throws: As above, ENOENT if nothing is there, ESTALE if something else is there, or the error of `note`. The file is as it was.
  /// - Note: renameat2(2) on `RENAME_EXCHANGE`.
  package func replaceContents(
    of path: SystemPath, with contents: [UInt8], expecting status: FileStatus,
    comparing compare: ((_ former: FileDescriptor) throws(SystemError) -> Bool)? = nil,
    meeting meet: @escaping (SystemPath) -> Void = { _ in },
    noting note: (_ count: Int64) throws(SystemError) -> Void = { _ throws(SystemError) in }
  ) throws(SystemError) {
    let expectation = ExpectedFile(status: status, hasContents: compare) { meet(path.parent.appending($0)) }
    try replace(path, .required, .expecting(expectation), settling: synchronize) { (file) throws(SystemError) in
      try note(0)
      var rest = contents[...]
      while !rest.isEmpty {
        let piece = rest.prefix(Self.noteInterval)
        try writeAll(Array(piece), to: file)
        rest = rest.dropFirst(piece.count)
        try note(Int64(contents.count - rest.count))
      }
    }
  }

  private static var noteInterval: Int { 1 << 20 }

  private func replace(
    _ path: SystemPath, _ permission: WritePermission, _ commitment: Commitment,
    settling settle: (FileDescriptor) throws(SystemError) -> Void,
    fill: (FileDescriptor) throws(SystemError) -> Void
  ) throws(SystemError) {
    try locatingErrors(at: path) { () throws(SystemError) in
      try withDescriptor(path.parent, flags: .directory) { (directory) throws(SystemError) in
        let name = try path.itemName()
        try replace(
          name, at: directory, in: path.parent, permission, commitment, settling: settle, fill: fill)
        try synchronizeAfterCommit(directory)
      }
    }
  }

  private func replace(
    _ name: SystemPath, at directory: FileDescriptor, in parent: SystemPath, _ permission: WritePermission,
    _ commitment: Commitment, settling settle: (FileDescriptor) throws(SystemError) -> Void,
    fill: (FileDescriptor) throws(SystemError) -> Void
  ) throws(SystemError) {
    let old = try replaceableStatus(of: name, at: directory)
    switch commitment {
    case .expecting(let expected): try require(old, toBe: expected.status, name)
    case .over(let target) where target.isNothing && old != nil:
      throw SystemError(call: "replaceContents", paths: [name], errno: EEXIST)
    case .over: break
    }
    if old != nil && permission == .required { try refuseReadOnlyFile(name, at: directory) }
    do {
      try save(as: name, at: directory, in: parent, like: old, commitment, unnamed: true, fill: fill, settle: settle)
    } catch let error where error.call == SystemCall.link.rawValue && error.errno == ENOENT {
      // Without /proc an unnamed file can't get a name.
      try save(as: name, at: directory, in: parent, like: old, commitment, unnamed: false, fill: fill, settle: settle)
    }
  }

  private func replaceableStatus(
    of name: SystemPath, at directory: FileDescriptor
  ) throws(SystemError) -> FileStatus? {
    func refusal(_ code: Int32, _ advice: String) -> SystemError {
      SystemError(call: "replaceContents", paths: [name], errno: code, advice: advice)
    }
    let status = try statusIfPresent(of: name, at: directory)
    switch status?.kind {
    case nil, .regular: return status
    case .directory: throw refusal(EISDIR, "It is a directory; pass the path of a file.")
    case .symbolicLink: throw refusal(EINVAL, "It is a symbolic link; pass the path of its target.")
    case .fifo, .socket, .characterDevice, .blockDevice, .unknown:
      throw refusal(EINVAL, "It isn't a regular file, so it has no contents to replace.")
    }
  }

  /// Throws EACCES for a file whose permissions don't let this process write to it, though its directory does.
  private func refuseReadOnlyFile(_ name: SystemPath, at directory: FileDescriptor) throws(SystemError) {
    do {
      try checkWritePermission(of: name, at: directory)
    } catch let error where error.errno == EACCES {
      throw SystemError(
        call: "replaceContents", paths: [name], errno: EACCES,
        advice:
          "Its permissions don't allow writing: change them ('chmod u+w'), or replace it all the same by the option "
          + "'.replacesReadOnly' of the Swift call.")
    } catch {
      // Other obstacles, such as EROFS, stop the calls that follow; old sandboxes don't support this one.
    }
  }

  private func save(
    as name: SystemPath, at directory: FileDescriptor, in parent: SystemPath, like old: FileStatus?,
    _ commitment: Commitment, unnamed: Bool, fill: (FileDescriptor) throws(SystemError) -> Void,
    settle: (FileDescriptor) throws(SystemError) -> Void
  ) throws(SystemError) {
    // 0o600 until the old file's own mode is set: a user who couldn't read the old contents may not read the new ones.
    var file = try makeTemporaryFile(
      for: name, as: commitment.draftName, in: directory, mode: old == nil ? 0o666 : 0o600, unnamed: unnamed)
    do {
      try fill(file.descriptor)
      if old != nil { try copyMetadata(of: name, at: directory, to: file.descriptor) }
      try settle(file.descriptor)
      try nameTemporaryFile(&file, for: name, as: commitment.draftName, in: directory)
      if case .chosen = commitment.draftName { removeIncoming(of: name, at: directory) }
      if let temporary = file.name {
        let draft = DirectoryItem(name: temporary, directory: directory, place: parent)
        let place = DirectoryItem(name: name, directory: directory, place: parent)
        switch commitment {
        case .expecting(let expected):
          expected.meet(temporary)
          if let status = expected.status {
            try exchange(draft, with: place) { (item) throws(SystemError) in
              try require(item, toBe: status, expected, name)
            }
            // It's a save whose former contents are left over if this fails.
            try? unlink(temporary, at: directory, .file)
          } else {
            try placeWhereNothingIs(draft, as: place)
          }
        case .over(let target):
          try take(place, by: draft, target)
          // The file is in its place: a process that's forked at this moment would keep it locked for programs that lock it for themselves.
          if temporary.isIncomingName { try? unlock(file.descriptor) }
        }
      }
    } catch {
      discard(file, in: directory)
      throw error
    }
    try? close(file.descriptor)
  }

  private func placeWhereNothingIs(_ draft: DirectoryItem, as place: DirectoryItem) throws(SystemError) {
    do {
      try renameExclusively(draft, to: place)
    } catch let error where error.errno == EEXIST { throw changedMeanwhile(place.name) }
  }

  private func copyMetadata(
    of name: SystemPath, at directory: FileDescriptor, to target: FileDescriptor
  ) throws(SystemError) {
    try withDescriptor(name, at: directory, flags: [.noFollow, .nonBlocking]) { (source) throws(SystemError) in
      try copyMetadata(from: source, status(of: source), to: target)
    }
  }

  /// Brings a finished rename to the disk; says in the error that it is finished.
  package func synchronizeAfterCommit(_ directory: FileDescriptor) throws(SystemError) {
    do {
      try synchronizeDirectory(directory)
    } catch {
      throw error.afterCommit("The change is in place but may not survive a power failure.")
    }
  }
}

/// How a new file gets its place.
private enum Commitment {
  case over(SaveTarget)
  case expecting(ExpectedFile)

  /// The incoming name is for files that take their place in one step: after an exchange the former file has the name.
  var draftName: DraftName {
    switch self {
    case .over(let target): target.isExchange || target.temporaryName != nil ? .chosen(target.temporaryName) : .incoming
    case .expecting: .chosen(nil)
    }
  }
}
