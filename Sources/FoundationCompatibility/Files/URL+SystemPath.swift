#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import Foundation
  internal import SystemInterface

  extension URL {
    /// The path of a file URL, byte by byte: `path` is text, in which bytes that aren't UTF-8 have been replaced.
    var systemPath: SystemPath {
      // Foundation takes URLs for their path that coordination refuses, such as one with a query.
      guard let bytes = try? absoluteURL.filePathBytes() else { return SystemPath(absoluteURL.path) }
      return SystemPath(bytes: bytes)
    }

    /// Whether there's something where it leads to; links are followed.
    var leadsSomewhere: Bool {
      (try? HostFileSystem().status(of: systemPath, at: .workingDirectory, links: .follow)) != nil
    }
  }

  extension SystemPath {
    /// The URL of an absolute path as Foundation makes it: with a slash at its end if it leads to a directory now.
    var foundationURL: URL {
      guard let url = try? URL(filePathBytes: bytes) else { return URL(fileURLWithPath: description) }
      let status = try? HostFileSystem().status(of: self, at: .workingDirectory, links: .follow)
      return status?.kind == .directory ? URL(string: url.absoluteString + "/") ?? url : url
    }
  }
#endif
