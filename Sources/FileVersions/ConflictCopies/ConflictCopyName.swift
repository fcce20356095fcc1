public import FoundationEssentials
public import SystemInterface

/// The parts of a conflict copy's name.
///
/// ```swift
/// let name = ConflictCopyName("a.sync-conflict-20260102-030405-ABCDEFG.txt")
/// print(name?.originalName ?? "no conflict copy")    // a.txt
/// ```
///
/// A value made from bytes alone: it reads no file, so whether there's a file of the original name is for others to find out.
///
/// - Note: Rule CV-31.
public struct ConflictCopyName: Hashable, Sendable {
  /// The name of the copy.
  public let name: SystemPath
  /// The engine that gives such names.
  public let engine: ConflictCopyEngine
  /// The names of the files that it may be a copy of: first the one that isn't the name of a copy itself, the nearest one last.
  ///
  /// There's more than one if a conflict copy had a conflict: the copy is one of the first of these files that exists.
  public let originalNames: [SystemPath]
  /// When the engine noticed the conflict, or the file was changed; in the time zone of some machine, which the name doesn't say.
  public let date: DateComponents?
  /// The device or the person whom the name mentions.
  ///
  /// They needn't have written the copy. Syncthing mentions the device whose contents the *file* has, not the copy.
  public let mention: String?

  /// The name of the file that everything began with.
  public var originalName: SystemPath { originalNames[0] }

  /// Reads the name of a file; `nil` if it isn't the name of a conflict copy.
  ///
  /// - Parameters:
  ///   - name: A name without a slash, byte by byte.
  ///   - engines: The engines whose names are recognized.
  /// - Complexity: O(bytes of the name).
  public init?(_ name: SystemPath, engines: Set<ConflictCopyEngine> = .all) {
    self.init(name, engines: engines.inOrder)
  }

  /// Reads a name of one of the engines, of which the first one counts.
  init?(_ name: SystemPath, engines: [ConflictCopyEngine]) {
    guard let outermost = Self.layer(of: name.bytes, engines) else { return nil }
    var names: [SystemPath] = []
    var layer: Layer? = outermost
    // Each is shorter than the one before.
    while let found = layer {
      names.append(SystemPath(bytes: found.original))
      layer = Self.layer(of: found.original, engines)
    }
    self.name = name
    engine = outermost.engine
    originalNames = names.reversed()
    date = outermost.marker.date
    mention = outermost.marker.mention.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Reads the name of a file; `nil` if it isn't the name of a conflict copy.
  ///
  /// - Parameters:
  ///   - name: A name without a slash.
  ///   - engines: The engines whose names are recognized.
  public init?(_ name: String, engines: Set<ConflictCopyEngine> = .all) {
    self.init(SystemPath(name), engines: engines)
  }

  /// The person who wrote the copy, if the engine's names say that.
  var author: String? {
    switch engine.scheme {
    case .nextcloud, .ownCloud, .dropbox, .seafile: mention
    case .syncthing, .rclone: nil
    }
  }

  // MARK: - One copy of one file

  struct Layer {
    let engine: ConflictCopyEngine
    let marker: ConflictMarker
    let original: [UInt8]
  }

  private static func layer(of name: [UInt8], _ engines: [ConflictCopyEngine]) -> Layer? {
    if name.contains(SystemPath.separator) || name.contains(0) { return nil }
    // The last marker is the one that was put in last.
    for (extensionCount, end) in ends(of: name).enumerated() {
      for engine in engines where extensionCount <= engine.extensionCountMax {
        guard let marker = engine.marker(at: name[..<end]) else { continue }
        let original = name[..<marker.start] + name[end...]
        // `.txt` is a file without extension, and no engine but Syncthing makes of it what looks like a file without stem.
        let hasStem = marker.start > 0 || engine.scheme == .syncthing && end < name.count
        // It puts the marker before an extension if there's one, also if that's all of the name.
        if engine.scheme == .syncthing, end == name.count, original.contains(dot) { continue }
        if hasStem, original != [dot], original != [dot, dot] {
          return Layer(engine: engine, marker: marker, original: Array(original))
        }
      }
    }
    return nil
  }

  private static let dot = UInt8(ascii: ".")

  /// Where a marker may end: at the end of the name, or before its last one or two extensions.
  private static func ends(of name: [UInt8]) -> [Int] {
    var ends = [name.count]
    while ends.count < 3, let last = ends.last, let end = name[..<last].lastIndex(of: dot) {
      // Two dots have no extension between them; the one at the end of `a.` is an extension without letters.
      if end + 1 == last, last < name.count { break }
      ends.append(end)
    }
    return ends
  }
}
