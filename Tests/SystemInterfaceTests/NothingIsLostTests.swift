import Glibc
import Testing

@testable import SystemInterface

/// Every operation on every kind of source, with a destination in every relation to it that one item can have to another.
///
/// A text is lost when no name leads to it any more without a request for that: it was in the source, or reached
/// through it, or elsewhere; only an item that a successful replacement or removal names may go. A call that fails has
/// changed nothing.
@Suite("Nothing is lost, however source and destination are related")
struct NothingIsLostTests {
  enum Source: CaseIterable {
    case file, directory, link, linkToLink, hardLink, linkToItself, danglingLink, linkToDirectory, fifo
  }

  enum Destination: String, CaseIterable {
    case same = "d/source"
    case linkToIt = "d/alias"
    case itsTarget = "d/text"
    case itsTargetDirectory = "d/folder"
    case linkBetween = "d/between"
    case hardLink = "d/twin"
    case inside = "d/source/inner/new"
    case around = "d"
    case otherCase = "d/SOURCE"
    case otherCaseInside = "D/Source/inner/new"
    case otherCaseAround = "D"
    case mounted = "m/source"
    case mountedInside = "m/source/inner/new"
    case mountedAround = "m"
    case file = "d/file"
    case directory = "d/directory"
    case free = "d/free"
  }

  enum Operation: CaseIterable {
    case move, moveReplacing, copy, copyReplacing, save, remove

    var isReplacing: Bool { self == .moveReplacing || self == .copyReplacing }

    func run(_ files: some FileSystem, _ source: SystemPath, _ target: SystemPath) throws(SystemError) {
      switch self {
      case .move: try files.moveItem(from: source, to: target, replacing: false)
      case .moveReplacing: try files.moveItem(from: source, to: target, replacing: true)
      case .copy: try files.copyItem(from: source, to: target, replacing: false)
      case .copyReplacing: try files.copyItem(from: source, to: target, replacing: true)
      case .save: try files.replaceContents(of: target, with: Array("saved".utf8))
      case .remove: try files.removeItem(at: source)
      }
    }
  }

  private func prepare(_ sandbox: Sandbox, _ source: Source) throws {
    for directory in ["d", "d/folder", "d/directory"] { try sandbox.makeDirectory(directory) }
    for name in ["d/text", "d/folder/text", "d/directory/text", "d/file", "outside"] {
      try sandbox.write(name, "text of \(name)")
    }
    switch source {
    case .file: try sandbox.write("d/source", "source")
    case .directory:
      try sandbox.makeDirectory("d/source")
      try sandbox.makeDirectory("d/source/inner")
      try sandbox.write("d/source/inner/text", "source")
    case .link: try sandbox.link("d/source", to: "text")
    case .linkToLink: try sandbox.link("d/source", to: "between")
    case .hardLink:
      try sandbox.write("d/source", "source")
      try sandbox.hardLink("d/source", "d/another")
    case .linkToItself: try sandbox.link("d/source", to: "source")
    case .danglingLink: try sandbox.link("d/source", to: "free/nothing")
    case .linkToDirectory: try sandbox.link("d/source", to: "folder/text")
    case .fifo: mkfifo(sandbox.path("d/source").description, 0o600)
    }
    try sandbox.link("d/between", to: sandbox.path("d/text").description)
    try sandbox.link("d/alias", to: "../d/source")
    if source != .directory { try sandbox.hardLink("d/source", "d/twin") }
  }

  /// Whether the destination has a meaning for the source.
  private func isApplicable(_ destination: Destination, to source: Source) -> Bool {
    switch destination {
    case .inside, .mountedInside, .otherCaseInside: source == .directory
    case .hardLink: source != .directory
    default: true
    }
  }

  private func check(
    _ sandbox: Sandbox, _ door: any FileSystem, _ source: Source, _ destination: Destination, _ operation: Operation
  ) throws {
    let (from, to) = (sandbox.path("d/source"), sandbox.path(destination.rawValue))
    let before = try sandbox.tree()
    let texts = Set(before.values.compactMap(\.text))
    var mayGo: Set<String> = []
    switch operation {
    case .remove: mayGo = Set(sandbox.texts(under: "d/source"))
    case .save: mayGo = Set(sandbox.texts(under: destination.rawValue, by: door))
    case .moveReplacing, .copyReplacing:
      mayGo = Set(sandbox.texts(under: destination.rawValue, by: door)).subtracting(
        sandbox.texts(reachedBy: "d/source"))
    case .move, .copy: break
    }
    let error = errorThrown { () throws(SystemError) in try operation.run(door, from, to) }
    let after = try sandbox.tree()
    let subject = "\(operation) of \(source) to \(destination): \(error.map { "\($0)" } ?? "done")"
    if error != nil {
      #expect(before == after, "\(subject)")
    } else {
      #expect(texts.subtracting(after.values.compactMap(\.text)).isSubset(of: mayGo), "\(subject)")
      #expect(!after.keys.contains { $0.hasSuffix(".fcsave") }, "\(subject)")
    }
    if [.linkToIt, .itsTarget, .hardLink, .linkBetween, .around, .mounted].contains(destination), operation.isReplacing
    {
      #expect((error == nil) == isHarmless(source, destination), "\(subject)")
    }
  }

  /// Whether the two are different items after all.
  private func isHarmless(_ source: Source, _ destination: Destination) -> Bool {
    switch destination {
    case .itsTarget: source != .link && source != .linkToLink
    case .linkBetween: source != .linkToLink
    default: false
    }
  }

  @Test("… by links and places", arguments: Source.allCases, Operation.allCases)
  func links(source: Source, operation: Operation) async throws {
    let isPlain = { (destination: Destination) in
      !destination.rawValue.hasPrefix("m") && destination.rawValue.lowercased() == destination.rawValue
    }
    for destination in Destination.allCases where isPlain(destination) && isApplicable(destination, to: source) {
      try await withTemporaryDirectory { sandbox in
        try prepare(sandbox, source)
        try check(sandbox, sandbox.files, source, destination, operation)
      }
    }
  }

  @Test("… by spelling, in directories that fold case", arguments: Source.allCases, Operation.allCases)
  func spelling(source: Source, operation: Operation) async throws {
    for destination in Destination.allCases
    where !destination.rawValue.hasPrefix("m") && isApplicable(destination, to: source) {
      try await withTemporaryDirectory { sandbox in
        try prepare(sandbox, source)
        try check(sandbox, ScriptedFileSystem.foldingCase(), source, destination, operation)
      }
    }
  }

  @Test(
    "… by mounts", .enabled(if: canBindMount, "needs the right to mount directories in two places"),
    arguments: Source.allCases, Operation.allCases)
  func mounts(source: Source, operation: Operation) async throws {
    for destination in [Destination.mounted, .mountedInside, .mountedAround] where isApplicable(destination, to: source)
    {
      try await withTemporaryDirectory { sandbox in
        try prepare(sandbox, source)
        try sandbox.makeDirectory("m")
        try #require(run("mount", "--bind", sandbox.path("d").description, sandbox.path("m").description) == 0)
        defer { _ = run("umount", sandbox.path("m").description) }
        try check(sandbox, sandbox.files, source, destination, operation)
      }
    }
  }

  @Test(
    "Another spelling of its name is given to an item, whatever its links", arguments: Source.allCases, [false, true])
  func respelling(source: Source, replacing: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      try prepare(sandbox, source)
      let inode = try sandbox.status("d/source")?.inode
      let door = ScriptedFileSystem.foldingCase()
      try door.moveItem(from: sandbox.path("d/source"), to: sandbox.path("d/Source"), replacing: replacing)
      #expect(try sandbox.names(in: "d").contains("Source") && !sandbox.names(in: "d").contains("source"))
      #expect(try sandbox.status("d/Source")?.inode == inode)
    }
  }

  @Test("Another spelling that can't be given leaves the old one", arguments: 1...30)
  func failingRespelling(number: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      try prepare(sandbox, .hardLink)
      let failing = ScriptedFileSystem.failing(call: number, with: EIO)
      let error = errorThrown { () throws(SystemError) in
        try ScriptedFileSystem.foldingCase(failing)
          .moveItem(from: sandbox.path("d/source"), to: sandbox.path("d/Source"), replacing: true)
      }
      let names = try sandbox.names(in: "d")
      #expect(names.contains("Source") != names.contains("source"))
      if error != nil && error?.advice == nil { #expect(names.contains("source")) }
      #expect(!names.contains { $0.hasSuffix(".fcsave") })
    }
  }
}

/// Whether this process may mount a directory in a second place.
private let canBindMount: Bool = {
  var template = Array("\(temporaryDirectory)/mount.XXXXXX".utf8CString)
  guard mkdtemp(&template) != nil else { return false }
  let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  defer { rmdir(path) }
  guard run("mount", "--bind", path, path) == 0 else { return false }
  return run("umount", path) == 0
}()

/// The item at a path.
private struct Found: Equatable {
  let kind: FileKind
  var text: String?
}

extension Sandbox {
  fileprivate func hardLink(_ name: String, _ other: String) throws {
    try files.link(path(name), at: .workingDirectory, to: path(other), at: .workingDirectory, links: .noFollow)
  }

  /// Everything below the directory, or below an item in it.
  fileprivate func tree(_ name: String = ".") throws -> [String: Found] {
    var tree: [String: Found] = [:]
    guard let status = try status(name) else { return tree }
    switch status.kind {
    case .regular: tree[name] = try Found(kind: .regular, text: text(name))
    case .symbolicLink: tree[name] = try Found(kind: .symbolicLink, text: "-> \(target(name) ?? "")")
    case .directory:
      tree[name] = Found(kind: .directory)
      for inner in try names(in: name) { tree.merge(try self.tree("\(name)/\(inner)")) { $1 } }
    default: tree[name] = Found(kind: status.kind)
    }
    return tree
  }

  /// The texts in an item, and the contents of links in it.
  fileprivate func texts(under name: String, by door: any FileSystem = HostFileSystem()) -> [String] {
    // The door may have the item under another spelling.
    let spelled = (try? status(name)) ?? nil == nil && !(door is HostFileSystem) ? name.lowercased() : name
    return ((try? tree(spelled)) ?? [:]).values.compactMap(\.text)
  }

  /// The texts in an item, or where it leads to.
  fileprivate func texts(reachedBy name: String) -> [String] {
    let led = (try? text(name)).map { [$0] } ?? []
    return texts(under: name) + led
  }
}
