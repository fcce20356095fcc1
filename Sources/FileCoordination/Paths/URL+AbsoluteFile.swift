public import FoundationEssentials

extension URL {
  /// The same file by an absolute file URL, as coordination requires.
  ///
  /// For paths that people type and programs are handed: `URL(filePath: "notes.md")`, and `URL(string: "notes.md")`,
  /// whose text is taken for a path. A URL with a base is resolved against that, any other relative one against the
  /// working directory of this moment. A `..` stays: the system follows it, and links before it. An absolute file URL
  /// is returned as it is. Blocks for one system call at most.
  ///
  /// - Returns: The URL.
  /// - Throws: ``FileCoordinationError`` with code `.notAFileURL` for a URL of another scheme, `.invalidPath` for an empty one or one that no
  ///   file can have, and `.fileSystem` when the working directory can't be found, see getcwd(3).
  public func absoluteFileURL() throws(FileCoordinationError) -> URL {
    if baseURL != nil { return try absoluteURL.absoluteFileURL() }
    if scheme != nil, !isFileURL { throw .notAFileURL(absoluteString) }
    let path = try FileURLCoding.pathAsWritten(in: absoluteString)
    if path.first == FileURLCoding.slash, isFileURL { return self }
    return try URL(filePathBytes: path)
  }
}
