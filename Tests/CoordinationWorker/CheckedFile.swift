import Foundation
import Glibc

/// A file that shows whether it's being written: it holds a number and its writer, twice.
struct CheckedFile {
  let url: URL
  let item: Int
  let log: HoldLog

  /// Checks whether the file is whole.
  ///
  /// - Returns: The number in it.
  @discardableResult
  func check() -> Int {
    guard let text = try? String(contentsOf: url, encoding: .utf8), !text.isEmpty else { return 0 }
    let halves = text.split(separator: "\n", omittingEmptySubsequences: false)
    let words = halves[0].split(separator: " ").compactMap { Int($0) }
    if halves.count != 3 || halves[0] != halves[1] || words.count != 2 {
      log.append(.sawTornContents, item: item, detail: Int32(words.count > 1 ? words[1] : 0))
    }
    return words.first ?? 0
  }

  /// Writes the next number, in two steps.
  func increment() {
    let half = Data("\(check() + 1) \(getpid())\n".utf8)
    let descriptor = open(url.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    // A process that is short of descriptors leaves the file as it is.
    if descriptor < 0 { return }
    for _ in 0..<2 {
      _ = half.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      sched_yield()
    }
    close(descriptor)
  }
}
