import Foundation

/// Removes a directory of a test in which something may still come and go for a moment.
///
/// The thread by which a domain meets others ends a little after the domain; there's no event for that outside of the library.
package func removeSurely(_ path: String) {
  for _ in 0..<1_000 {
    try? FileManager.default.removeItem(atPath: path)
    if !FileManager.default.fileExists(atPath: path) { return }
    Thread.sleep(forTimeInterval: 0.001)
  }
}
