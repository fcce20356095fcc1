import Glibc
import Testing

@testable import SystemInterface

/// Everything that a copy keeps of one item.
///
/// Its own code reads it, so that a mistake of the copy isn't repeated here. Links aren't counted: hard links become files of their own.
struct ItemRecord: Equatable {
  /// How many directories of the tree are around it.
  var depth: Int
  /// Empty for the item that was copied, whose copy has another name.
  var name: String
  var kind: FileKind
  var mode: UInt32
  var owner: UInt32
  var group: UInt32
  var modificationTime: Int64
  var representedDevice: UInt64
  /// The length of a file; the lengths of directories depend on how they were made.
  var size: Int64?
  /// The bytes between a file's holes, by their offsets.
  var data: [Int64: [UInt8]] = [:]
  /// The text of a symbolic link.
  var target: String?
  var attributes: [ExtendedAttributeName: [UInt8]] = [:]

  init(_ name: String, _ status: FileStatus, depth: Int) {
    self.depth = depth
    self.name = name
    kind = status.kind
    mode = status.mode
    owner = status.owner
    group = status.group
    modificationTime = status.modificationTime
    representedDevice = status.representedDevice
    size = status.kind == .regular ? status.size : nil
  }

  /// The members that differ, for people.
  func differences(from other: ItemRecord) -> [String] {
    if name != other.name || depth != other.depth {
      return ["'\(name)' in \(depth) directories, and '\(other.name)' in \(other.depth)"]
    }
    var members: [String] = []
    if kind != other.kind { members.append("kind \(kind), \(other.kind)") }
    if mode != other.mode { members.append("mode \(String(mode, radix: 8)), \(String(other.mode, radix: 8))") }
    if owner != other.owner || group != other.group {
      members.append("owner \(owner):\(group), \(other.owner):\(other.group)")
    }
    if modificationTime != other.modificationTime {
      members.append("time \(modificationTime), \(other.modificationTime)")
    }
    if representedDevice != other.representedDevice { members.append("device") }
    if size != other.size { members.append("size \(size ?? -1), \(other.size ?? -1)") }
    if data.mapValues(\.count) != other.data.mapValues(\.count) {
      members.append("holes: data at \(data.mapValues(\.count)), \(other.data.mapValues(\.count))")
    } else if data != other.data {
      members.append("contents")
    }
    if target != other.target { members.append("target '\(target ?? "")', '\(other.target ?? "")'") }
    if attributes != other.attributes { members.append("attributes \(attributes.keys), \(other.attributes.keys)") }
    return members.map { "'\(name)' in \(depth) directories: \($0)" }
  }
}

/// Records a tree, in the order of the walk.
private struct TreeRecorder: TreeVisitor {
  let files = HostFileSystem()
  var records: [ItemRecord] = []
  private var depth = 0

  mutating func visit(_ entry: DirectoryEntry, in directory: FileDescriptor) throws(SystemError) {
    let status = try files.status(of: entry.name, at: directory, links: .noFollow)
    var record = ItemRecord(depth == 0 ? "" : entry.name.description, status, depth: depth)
    switch status.kind {
    case .symbolicLink: record.target = try files.readLink(entry.name, at: directory).description
    case .regular:
      try files.withDescriptor(entry.name, at: directory, flags: [.noFollow, .nonBlocking]) {
        (file) throws(SystemError) in
        record.attributes = try attributes(of: file)
        record.data = try data(of: file, status.size)
      }
    // Items that a copy must not open aren't opened here either.
    case .directory, .fifo, .socket, .characterDevice, .blockDevice, .unknown: break
    }
    records.append(record)
  }

  mutating func didEnter(
    _ name: SystemPath, _ directory: FileDescriptor, _ status: FileStatus
  ) throws(SystemError) {
    var record = ItemRecord(depth == 0 ? "" : name.description, status, depth: depth)
    record.attributes = try attributes(of: directory)
    records.append(record)
    depth += 1
  }

  mutating func didLeave(_ name: SystemPath, in parent: FileDescriptor) { depth -= 1 }

  private func attributes(of file: FileDescriptor) throws(SystemError) -> [ExtendedAttributeName: [UInt8]] {
    var attributes: [ExtendedAttributeName: [UInt8]] = [:]
    for name in try files.extendedAttributes(of: file) {
      attributes[name] = try files.extendedAttribute(name, of: file)
    }
    return attributes
  }

  private func data(of file: FileDescriptor, _ size: Int64) throws(SystemError) -> [Int64: [UInt8]] {
    var data: [Int64: [UInt8]] = [:]
    var offset: Int64 = 0
    while offset < size, let start = try nextData(of: file, from: offset) {
      offset = try files.seek(file, to: start, .hole)
      _ = try files.seek(file, to: start, .start)
      data[start] = try bytes(of: file, count: Int(offset - start))
    }
    return data
  }

  private func nextData(of file: FileDescriptor, from offset: Int64) throws(SystemError) -> Int64? {
    do { return try files.seek(file, to: offset, .data) } catch {
      // ENXIO: there's a hole up to the end.
      if error.errno == ENXIO { return nil }
      throw error
    }
  }

  private func bytes(of file: FileDescriptor, count: Int) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      var buffer = [UInt8](repeating: 0, count: count - bytes.count)
      let filled = try files.read(file, into: &buffer)
      if filled == 0 { break }
      bytes += buffer[..<filled]
    }
    return bytes
  }
}

extension Sandbox {
  /// An item and all that's in it.
  func records(of name: String) throws -> [ItemRecord] {
    let item = path(name)
    return try files.withDescriptor(item.parent, flags: .directory) { (directory) throws(SystemError) in
      var recorder = TreeRecorder()
      let kind = try files.status(of: item.lastComponent, at: directory, links: .noFollow).kind
      if kind == .directory {
        try files.walkTree(item.lastComponent, at: directory, &recorder)
      } else {
        try recorder.visit(DirectoryEntry(name: item.lastComponent, kind: kind), in: directory)
      }
      return recorder.records
    }
  }

  /// How a copy differs from its original; nothing if it's the same in everything that a copy keeps.
  func differences(between original: String, and copy: String) throws -> [String] {
    let (before, after) = (try records(of: original), try records(of: copy))
    let differences = zip(before, after).flatMap { $0.differences(from: $1) }
    return before.count == after.count ? differences : differences + ["\(before.count) items, and \(after.count)"]
  }
}

@Suite("A comparison of trees finds each way in which a copy can differ")
struct TreeComparisonTests {
  /// A change that a faulty copy would make.
  enum Fault: String, CaseIterable {
    case contents, length, hole, mode, time, attribute, target, name, missing, directoryTime, directoryAttribute, kind

    /// The line that the comparison has to report.
    var report: String {
      switch self {
      case .contents: "'file' in 1 directories: contents"
      case .length: "'file' in 1 directories: size 4, 3"
      case .hole: "'file' in 1 directories: holes"
      case .mode: "'file' in 1 directories: mode 644, 600"
      case .time: "'file' in 1 directories: time 1000000001, 1000000000"
      case .attribute: "'file' in 1 directories: attributes"
      case .target: "'link' in 1 directories: target 'target', 'elsewhere'"
      case .name: "'link' in 1 directories, and 'other' in 1"
      case .missing: "3 items, and 2"
      case .directoryTime: "'' in 0 directories: time 3, 4"
      case .directoryAttribute: "'' in 0 directories: attributes"
      case .kind: "'link' in 1 directories: kind symbolicLink, regular"
      }
    }
  }

  private func make(_ name: String, in sandbox: Sandbox) throws {
    try sandbox.makeDirectory(name)
    try sandbox.write("\(name)/file", "text")
    try sandbox.link("\(name)/link", to: "target")
    for item in ["\(name)/file", name] {
      try sandbox.withFile(item) { (file) throws(SystemError) in
        try sandbox.files.setExtendedAttribute(ExtendedAttributeName("user.n"), of: file, to: Array("value".utf8))
      }
    }
    try age(name, in: sandbox)
  }

  /// Gives a tree its times, so that a change shows itself and not the time at which it was made.
  private func age(_ name: String, in sandbox: Sandbox) throws {
    for (name, time) in [("\(name)/file", 1_000_000_001), ("\(name)/link", 2), (name, 3)] as [(String, Int64)]
    where try sandbox.status(name) != nil {
      try sandbox.files.setModificationTime(of: sandbox.path(name), at: .workingDirectory, to: time)
    }
  }

  private func alter(_ sandbox: Sandbox, _ fault: Fault) throws {
    let files = sandbox.files
    let attribute = ExtendedAttributeName("user.n")
    switch fault {
    case .contents: try sandbox.write("b/file", "tex!")
    case .length:
      try files.withDescriptor(sandbox.path("b/file"), flags: .writeOnly) { (file) throws(SystemError) in
        try files.truncate(file, to: 3)
      }
    case .hole:
      try files.withDescriptor(sandbox.path("b/file"), flags: .writeOnly) { (file) throws(SystemError) in
        try files.truncate(file, to: 0)
        try files.truncate(file, to: 4)
      }
    case .mode: try sandbox.withFile("b/file") { (file) throws(SystemError) in try files.setMode(of: file, to: 0o600) }
    case .time, .directoryTime: break
    case .attribute:
      try sandbox.withFile("b/file") { (file) throws(SystemError) in
        try files.setExtendedAttribute(attribute, of: file, to: Array("another".utf8))
      }
    case .target:
      try files.removeItem(at: sandbox.path("b/link"))
      try sandbox.link("b/link", to: "elsewhere")
    case .name: try files.moveItem(from: sandbox.path("b/link"), to: sandbox.path("b/other"), replacing: false)
    case .missing: try files.removeItem(at: sandbox.path("b/link"))
    case .directoryAttribute:
      try sandbox.withFile("b") { (directory) throws(SystemError) in
        try files.removeExtendedAttribute(attribute, of: directory)
      }
    case .kind:
      try files.removeItem(at: sandbox.path("b/link"))
      try sandbox.write("b/link", "target")
    }
  }

  @Test("One difference is found where there's one, and none where there's none", arguments: Fault.allCases)
  func differences(fault: Fault) async throws {
    try await withTemporaryDirectory { sandbox in
      try make("a", in: sandbox)
      try make("b", in: sandbox)
      #expect(try sandbox.differences(between: "a", and: "b") == [])
      try alter(sandbox, fault)
      try age("b", in: sandbox)
      if fault == .time {
        try sandbox.files.setModificationTime(of: sandbox.path("b/file"), at: .workingDirectory, to: 1_000_000_000)
      } else if fault == .directoryTime {
        try sandbox.files.setModificationTime(of: sandbox.path("b"), at: .workingDirectory, to: 4)
      }
      let differences = try sandbox.differences(between: "a", and: "b")
      #expect(differences.contains { $0.hasPrefix(fault.report) }, "\(differences)")
    }
  }
}
