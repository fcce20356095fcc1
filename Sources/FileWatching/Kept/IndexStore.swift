internal import Glibc
internal import SystemInterface

/// Where an index is kept from one run to the next: a file of its own for each scope.
struct IndexStore: Sendable {
  private let directory: SystemPath
  private let file: SystemPath
  /// The description of the scope: the index of another one is of no use.
  private let scope: [UInt8]

  /// - Returns: `nil` if the index isn't to be kept, or if that's no use because statx(2) is called for everything
  ///   anyway.
  init?(_ key: IndexEngine.Key) {
    guard let directory = key.options.indexDirectory.flatMap(SystemPath.init), key.options.gatheringDepth == .names
    else { return nil }
    var texts = key.reaches.map { path, reach in Array("\(reach) ".utf8) + path.bytes }
    texts.append(
      Array("mounts \(key.options.includesMountedVolumes) links \(key.options.followsSymbolicLinks)".utf8))
    texts += key.options.unenteredNames.map { Array($0.utf8) }
    scope = Array(texts.joined(separator: [0]))
    self.directory = directory
    file = directory.appending("\(Self.digest(scope)).fileindex")
  }

  /// The same in each run: FNV-1a.
  ///
  /// The file contains the description of its scope as well.
  private static func digest(_ bytes: [UInt8]) -> String {
    String(bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }, radix: 16)
  }

  /// The kept index; `nil` if there's none that can be used, so that everything is read.
  func load() -> KeptIndexReader? {
    guard isTrusted, let bytes = try? files.contents(of: file) else { return nil }
    return KeptIndexReader(bytes, scope: scope)
  }

  /// Keeps an index: readers and crashes see all of the old one or all of the new one.
  ///
  /// - Throws: Errors of mkdir(2), and of writing a file.
  func save(_ state: KeptState) throws(SystemError) {
    do throws(SystemError) {
      try files.makeDirectory(directory, at: .workingDirectory, mode: 0o700)
    } catch {
      if error.errno != EEXIST { throw error }
    }
    // Its owner would stay as it is.
    if !isTrusted { try? files.unlink(file, at: .workingDirectory, .file) }
    try files.replaceContents(of: file, with: state.bytes(scope: scope))
    // Some users' umask lets a group write new files, which wouldn't be used.
    let descriptor = try files.open(file, at: .workingDirectory, flags: [.noFollow], mode: 0)
    defer { try? files.close(descriptor) }
    try files.setMode(of: descriptor, to: 0o600)
  }

  private var files: HostFileSystem { HostFileSystem() }

  /// Files of others aren't used, nor those that others may write: names could be missing in them.
  private var isTrusted: Bool {
    guard let status = try? files.status(of: file, at: .workingDirectory, links: .noFollow) else { return false }
    return status.kind == .regular && status.owner == geteuid() && status.mode & 0o022 == 0
  }
}
