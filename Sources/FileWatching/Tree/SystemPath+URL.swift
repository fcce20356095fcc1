public import FoundationEssentials
public import SystemInterface

extension SystemPath {
  /// The path of a file URL, byte by byte; `nil` for any other URL.
  ///
  /// A relative one is resolved against its base.
  ///
  /// - Parameter url: The URL.
  public init?(_ url: URL) {
    guard let path = FileURLCoding.path(of: url) else { return nil }
    self = path
  }

  /// The URL of an absolute path, with every byte of it; `nil` for a relative one.
  public var url: URL? { isAbsolute ? FileURLCoding.url(of: self, isDirectory: false) : nil }
}

extension TreeChange {
  /// The URL of ``path``; that of a directory ends in a slash.
  public var url: URL? { FileURLCoding.url(of: path, isDirectory: kind == .directory) }
}
