import Glibc

/// A process as the library names it, `pid 4711 'notesd'` or `pid 4711 'notesd', stopped`, in parts.
struct ProcessName: Hashable {
  /// `nil` for the process of a callback, which isn't reported.
  let identifier: Int?
  /// Its name, which may contain any signs.
  let name: String?
  /// Whether it's stopped; `nil` as above.
  let isStopped: Bool?

  private static let stoppedMark = "', stopped"

  init(_ description: String) {
    let words = description.split(separator: " ", maxSplits: 2)
    guard words.count == 3, words[0] == "pid", let identifier = Int(words[1]), words[2].count >= 2 else {
      (identifier, name, isStopped) = (nil, nil, nil)
      return
    }
    self.identifier = identifier
    let isStopped = words[2].hasSuffix(Self.stoppedMark)
    self.isStopped = isStopped
    name = String(words[2].dropFirst().dropLast(isStopped ? Self.stoppedMark.count : 1))
  }

  var isThisProcess: Bool { identifier == Int(getpid()) }

  var members: [(String, JSON)] {
    [("pid", JSON(identifier)), ("process", JSON(name)), ("stopped", isStopped.map(JSON.bool) ?? .null)]
  }
}
