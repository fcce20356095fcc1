import Glibc

/// A process as the library names it, `pid 4711 'notesd'`, in parts.
struct ProcessName {
  /// `nil` for the process of a callback, which isn't reported.
  let identifier: Int?
  let name: String?

  init(_ description: String) {
    let words = description.split(separator: " ", maxSplits: 2)
    guard words.count == 3, words[0] == "pid", let identifier = Int(words[1]), words[2].count >= 2 else {
      identifier = nil
      name = nil
      return
    }
    self.identifier = identifier
    name = String(words[2].dropFirst().dropLast())
  }

  var isThisProcess: Bool { identifier == Int(getpid()) }

  var members: [(String, JSON)] { [("pid", JSON(identifier)), ("process", JSON(name))] }
}
