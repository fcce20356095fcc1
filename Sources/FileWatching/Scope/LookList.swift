internal import SystemInterface

/// Names with events, by directory.
struct LookList {
  /// For each name whether its end was reported.
  ///
  /// If it wasn't, and the name is gone, then the kernel will report soon whether it was removed or renamed.
  private(set) var names: [FileNumber: [SystemPath: Bool]] = [:]

  var isEmpty: Bool { names.isEmpty }
  var directories: [FileNumber] { names.keys.sorted() }

  mutating func add(_ name: SystemPath, in directory: FileNumber, isGone: Bool = false) {
    names[directory, default: [:]][name, default: false] = isGone || names[directory]?[name] == true
  }

  mutating func add(_ others: [SystemPath: Bool], in directory: FileNumber) {
    names[directory, default: [:]].merge(others) { $0 || $1 }
  }

  mutating func remove(_ directory: FileNumber) { names[directory] = nil }

  /// The names in one directory, and for each whether its end was reported.
  struct Entry: Hashable, Sendable {
    let directory: FileNumber
    let names: [SystemPath: Bool]
  }

  /// Takes all names out, in the order of the directories' numbers.
  mutating func take() -> [Entry] {
    defer { names = [:] }
    return names.map { Entry(directory: $0.key, names: $0.value) }.sorted { $0.directory < $1.directory }
  }
}
