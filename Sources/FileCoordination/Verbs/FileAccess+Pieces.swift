package import FoundationEssentials
package import SystemInterface

// Contents that are read and written piece by piece, and only over what was read: for documents.

extension FileAccess {
  /// The contents of the file, and what it was when they were read.
  ///
  /// Ends soon after the task was cancelled. Runs on a thread of this library that may block.
  ///
  /// - Parameters:
  ///   - countMax: How many bytes to read at most.
  ///   - note: Called after each mebibyte with the number of bytes read, and the size of the file.
  /// - Returns: All of its bytes, and its status before.
  /// - Throws: ``FileCoordinationError``, with EFBIG for a larger file, and ECANCELED if the task was cancelled.
  package func contentsAndStatus(
    countMax: Int64, noting note: @escaping @Sendable (_ count: Int64, _ size: Int64) -> Void
  ) async throws(FileCoordinationError) -> (contents: Data, status: FileStatus) {
    try checkOngoing()
    let (files, path) = (fileSystem, path)
    return try await Offload.run { () throws(FileCoordinationError) in
      try FileCoordinationError.wrapping { () throws(SystemError) in
        let (bytes, status) = try files.contentsAndStatus(of: path, countMax: countMax) {
          (count, size) throws(SystemError) in
          if Task.isCancelled {
            throw SystemError(call: "contents", paths: [path], errno: SystemError.Number.cancelled.rawValue)
          }
          note(count, size)
        }
        return (Data(bytes), status)
      }
    }
  }

  /// Gives the file new contents safely, unless it isn't any more what it was when it was read.
  ///
  /// Ends soon after the task was cancelled, unless the new contents are in place. Runs on a thread of this library that may block.
  ///
  /// - Parameters:
  ///   - contents: The new contents.
  ///   - status: The former status of the file.
  ///   - compare: Reads the former file, and returns whether it has its former contents.
  ///   - meet: Called with the place of the new file beside the old one, right before it takes the place of that.
  ///   - note: Called after each mebibyte with the number of bytes written.
  /// - Throws: ``FileCoordinationError``, with ENOENT if nothing is there any more, ESTALE if something else is, and ECANCELED if the
  ///   task was cancelled. Then the file is as it was.
  package func replaceContents(
    with contents: Data, expecting status: FileStatus,
    comparing compare: @escaping @Sendable (_ former: FileDescriptor) throws(SystemError) -> Bool,
    meeting meet: @escaping @Sendable (SystemPath) -> Void,
    noting note: @escaping @Sendable (_ count: Int64) -> Void
  ) async throws(FileCoordinationError) {
    try checkWritable()
    let (files, path) = (fileSystem, path)
    try await Offload.run { () throws(FileCoordinationError) in
      try FileCoordinationError.wrapping { () throws(SystemError) in
        try files.replaceContents(
          of: path, with: Array(contents), expecting: status, comparing: compare, meeting: meet
        ) { (count) throws(SystemError) in
          if Task.isCancelled {
            throw SystemError(call: "replaceContents", paths: [path], errno: SystemError.Number.cancelled.rawValue)
          }
          note(count)
        }
      }
    }
  }
}
