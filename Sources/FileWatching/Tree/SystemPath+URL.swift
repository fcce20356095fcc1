public import FoundationEssentials
public import SystemInterface

extension SystemPath {
  /// The path of a file URL, byte by byte; `nil` for any other URL.
  ///
  /// A relative one is resolved against its base.
  ///
  /// - Parameter url: The URL.
  public init?(_ url: URL) {
    // `URL.path` has a replacement character for bytes that aren't UTF-8.
    guard url.isFileURL, let bytes = PercentEncoding.decode(url.absoluteURL.path(percentEncoded: true).utf8) else {
      return nil
    }
    self.init(bytes: bytes)
  }

  /// The URL of an absolute path, with every byte of it; `nil` for a relative one.
  ///
  /// Equal to `URL(filePath:directoryHint: .notDirectory)` if the path is UTF-8.
  public var url: URL? { url(isDirectory: false) }

  /// The URL of an absolute path; that of a directory ends in a slash.
  package func url(isDirectory: Bool) -> URL? {
    guard isAbsolute else { return nil }
    let text = "file://" + PercentEncoding.encode(bytes)
    return URL(string: isDirectory && bytes.last != UInt8(ascii: "/") ? text + "/" : text)
  }
}

extension TreeChange {
  /// The URL of ``path``; that of a directory ends in a slash.
  public var url: URL? { path.url(isDirectory: kind == .directory) }
}
