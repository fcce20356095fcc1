internal import Glibc

/// A file in the making beside the one it will replace.
struct TemporaryFile {
  let descriptor: FileDescriptor
  /// The name in the directory; `nil` while the file has none and vanishes by itself if the process dies.
  var name: SystemPath?
}

extension SystemPath {
  private static let temporaryAlphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
  private static let temporarySuffix = Array(".fcsave".utf8)
  private static let temporaryRandomCount = 8

  /// An unused name beside `name`: `.NAME.XXXXXXXX.fcsave`, cut to the length that a file system takes.
  package static func temporaryName(for name: SystemPath) -> SystemPath {
    var random = randomLetters(temporaryRandomCount)
    while random.starts(with: removalMark) || random == incomingMark { random = randomLetters(temporaryRandomCount) }
    return temporaryName(for: name, withLetters: random)
  }

  static func temporaryName(for name: SystemPath, withLetters letters: [UInt8]) -> SystemPath {
    SystemPath(bytes: temporaryPrefix(for: name) + letters + temporarySuffix)
  }

  private static func randomLetters(_ count: Int) -> [UInt8] {
    // One call to the system, not one for each letter.
    var random = UInt64.random(in: .min ... .max)
    return (0..<count).map { _ in
      let (rest, index) = random.quotientAndRemainder(dividingBy: UInt64(temporaryAlphabet.count))
      random = rest
      return temporaryAlphabet[Int(index)]
    }
  }

  /// How the random part of a temporary name begins if the item is being removed.
  private static let removalMark = Array("gone".utf8)

  /// The word in place of the random part in the names of new contents that have yet to take their place.
  static let incomingMark = Array("incoming".utf8)

  /// The random part of a temporary name, or the word in its place.
  var lettersOfTemporary: ArraySlice<UInt8> { bytes.suffix(Self.randomEndLength).prefix(Self.temporaryRandomCount) }

  private static var randomEndLength: Int { temporaryRandomCount + temporarySuffix.count }

  /// Another temporary name for the same item, which says that it's being removed.
  var namedForRemoval: SystemPath {
    let random = Self.removalMark + Self.randomLetters(Self.temporaryRandomCount - Self.removalMark.count)
    return SystemPath(bytes: Array(bytes.dropLast(Self.randomEndLength)) + random + Self.temporarySuffix)
  }

  /// Whether a temporary name says that its item is being removed.
  package var isNamedForRemoval: Bool { bytes.suffix(Self.randomEndLength).starts(with: Self.removalMark) }

  private static func temporaryPrefix(for name: SystemPath) -> [UInt8] {
    Array(".".utf8 + name.bytes.prefix(uncutNameLengthMax) + ".".utf8)
  }

  /// Longer names are cut in temporary ones.
  static let uncutNameLengthMax = nameLengthMax - (2 + temporaryRandomCount + temporarySuffix.count)

  /// Whether this is a name that a save gives to what it makes or sets aside.
  package var isTemporaryName: Bool {
    bytes.first == UInt8(ascii: ".") && bytes.suffix(Self.temporarySuffix.count) == Self.temporarySuffix[...]
  }

  /// The name that a temporary one was made for, or the part to which that was cut; `nil` if this isn't a temporary name.
  package var nameOfTemporary: SystemPath? {
    let end = bytes.count - Self.randomEndLength - 1
    guard isTemporaryName, end > 1, bytes[end] == UInt8(ascii: ".") else { return nil }
    return SystemPath(bytes: Array(bytes[1..<end]))
  }

  /// Whether this is such a name, made for a given one; names that are cut to the same part aren't distinguished.
  package func isTemporaryName(for name: SystemPath) -> Bool {
    let prefix = Self.temporaryPrefix(for: name)
    return isTemporaryName && bytes.starts(with: prefix)
      && bytes.count == prefix.count + Self.temporaryRandomCount + Self.temporarySuffix.count
  }
}

/// The name of a file in the making.
enum DraftName {
  /// The one by which the next save finds what a killed one has left, or a random one if another save has that.
  case incoming
  /// A given one, or a random one if that's taken or there's none.
  case chosen(SystemPath?)

  fileprivate var chosen: SystemPath? {
    if case .chosen(let name) = self { return name }
    return nil
  }
}

extension FileSystem {
  /// Creates a file that only its owner may use unless `mode` says otherwise, without a name where that is possible.
  func makeTemporaryFile(
    for name: SystemPath, as draftName: DraftName = .chosen(nil), in directory: FileDescriptor, mode: UInt32,
    unnamed: Bool
  ) throws(SystemError) -> TemporaryFile {
    if unnamed {
      do {
        let file = try open(SystemPath("."), at: directory, flags: [.unnamed, .writeOnly], mode: mode)
        return TemporaryFile(descriptor: file, name: nil)
      } catch let error where error.isUnsupported || error.errno == EISDIR {
        // Kernels and file systems that don't support O_TMPFILE (open(2)).
      }
    }
    func make(_ temporary: SystemPath) throws(SystemError) -> TemporaryFile {
      let file = try open(temporary, at: directory, flags: [.create, .exclusive, .writeOnly], mode: mode)
      return TemporaryFile(descriptor: file, name: temporary)
    }
    if case .incoming = draftName, let file = try withIncomingName(for: name, at: directory, make) {
      if try isMarked(file, in: directory) { return file }
    }
    return try withTemporaryName(for: name, trying: draftName.chosen, make)
  }

  /// Marks a file with an incoming name as one that's in use; otherwise the file is closed, and its name is gone or will be.
  private func isMarked(_ file: TemporaryFile, in directory: FileDescriptor) throws(SystemError) -> Bool {
    do throws(SystemError) {
      try lock(file.descriptor)
      if let name = file.name, try isNamed(name, at: directory, file.descriptor) { return true }
      // Somebody has taken it for an abandoned one before it was locked.
      try close(file.descriptor)
    } catch {
      // The same, or locks aren't supported, so that nobody else would remove it.
      if error.errno == EWOULDBLOCK { try close(file.descriptor) } else { discard(file, in: directory) }
    }
    return false
  }

  /// Gives an unnamed file a temporary name, the step before it can be renamed over another one.
  func nameTemporaryFile(
    _ file: inout TemporaryFile, for name: SystemPath, as draftName: DraftName = .chosen(nil),
    in directory: FileDescriptor
  ) throws(SystemError) {
    if file.name != nil { return }
    let door = SystemPath("/proc/self/fd/\(file.descriptor.rawValue)")
    func link(_ temporary: SystemPath) throws(SystemError) -> SystemPath {
      try self.link(door, at: .workingDirectory, to: temporary, at: directory, links: .follow)
      return temporary
    }
    if case .incoming = draftName, (try? lock(file.descriptor)) != nil {
      file.name = try withIncomingName(for: name, at: directory, link)
    }
    if file.name == nil { file.name = try withTemporaryName(for: name, trying: draftName.chosen, link) }
  }

  /// Calls `body` with temporary names until one isn't taken, for a bounded number of times; with a chosen one first.
  package func withTemporaryName<Result>(
    for name: SystemPath, trying chosen: SystemPath? = nil, _ body: (SystemPath) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    for attempt in 1..<16 {
      do {
        return try body(attempt == 1 ? chosen ?? .temporaryName(for: name) : .temporaryName(for: name))
      } catch let error where error.errno == EEXIST {
        continue
      }
    }
    return try body(.temporaryName(for: name))
  }

  /// Closes a file in the making and removes its name, if it has one.
  func discard(_ file: TemporaryFile, in directory: FileDescriptor) {
    if let name = file.name { try? unlink(name, at: directory, .file) }
    try? close(file.descriptor)
  }
}
