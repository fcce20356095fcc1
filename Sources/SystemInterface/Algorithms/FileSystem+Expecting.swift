internal import Glibc

// Saves that replace the very file that their caller has looked at.

/// The file that a save may replace, and the function that sees the new file before the replacement.
struct ExpectedFile {
  /// `nil` if nothing may be there.
  let status: FileStatus?
  /// Compares the bytes of the file that comes out with those that were read; `nil` if its status says enough.
  let hasContents: ((FileDescriptor) throws(SystemError) -> Bool)?
  let meet: (SystemPath) -> Void
}

extension FileSystem {
  /// Throws ENOENT or ESTALE unless a file is the expected one, with the contents that it had; nothing is expected if that's `nil`.
  func require(
    _ status: FileStatus?, toBe expected: FileStatus?, _ name: SystemPath
  ) throws(SystemError) {
    guard let expected else {
      if status == nil { return }
      throw changedMeanwhile(name)
    }
    guard let status else {
      throw SystemError(call: "replaceContents", paths: [name], errno: ENOENT, advice: "It's gone.")
    }
    if !status.hasContents(of: expected) { throw changedMeanwhile(name) }
  }

  /// Throws as above if a file that has come out of its place isn't the expected one.
  func require(
    _ item: DirectoryItem, toBe status: FileStatus, _ expectation: ExpectedFile, _ name: SystemPath
  ) throws(SystemError) {
    try require(statusIfPresent(of: item.name, at: item.directory), toBe: status, name)
    guard let hasContents = expectation.hasContents else { return }
    try withDescriptor(item.name, at: item.directory, flags: [.noFollow, .nonBlocking]) { (file) throws(SystemError) in
      if try !hasContents(file) { throw changedMeanwhile(name) }
    }
  }

  func changedMeanwhile(_ name: SystemPath) -> SystemError {
    SystemError(
      call: "replaceContents", paths: [name], errno: ESTALE, advice: "Another program has written it meanwhile.")
  }
}

extension FileStatus {
  /// Whether this is the file of another status, not written since.
  package func hasContents(of other: FileStatus) -> Bool {
    kind == other.kind && identity == other.identity && size == other.size && modificationTime == other.modificationTime
  }
}
