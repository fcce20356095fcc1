import Foundation
import Glibc
import Testing

/// A directory that's mounted on itself, so that it can be read-only.
struct BoundVolume {
  let path: String

  init(_ url: URL) throws {
    path = url.path
    try #require(mount(path, path, "", UInt(MS_BIND), nil) == 0)
  }

  func makeReadOnly() throws {
    let flags = UInt(MS_BIND | MS_REMOUNT | MS_RDONLY)
    try #require(mount("none", path, "", flags, nil) == 0)
  }

  func unmount() { umount2(path, Int32(MNT_DETACH)) }

  static let isPossible: Bool = {
    let url = FileManager.default.temporaryDirectory.appending(path: "BoundVolume.\(UUID())")
    guard (try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)) != nil else {
      return false
    }
    defer { try? FileManager.default.removeItem(at: url) }
    guard mount(url.path, url.path, "", UInt(MS_BIND), nil) == 0 else { return false }
    return umount2(url.path, Int32(MNT_DETACH)) == 0
  }()
}
