package import SystemInterface

/// The records of the files of a scope: a value that's cheap to copy, and whose copies stay as they are.
///
/// A later change copies the page it's in; all others are shared.
@usableFromInline
package struct FileTable: Sendable {
  @usableFromInline package static var pageSize: Int { 128 }

  @usableFromInline var pages: [[FileRow]] = []
  @usableFromInline package internal(set) var names = NameStore()
  var volumes = VolumeTable()
  /// The absolute paths of the tops of scopes.
  package internal(set) var rootPaths: [FileNumber: SystemPath] = [:]
  /// The possible results at each of them; nothing for those of which it's the contents.
  package internal(set) var rootReaches: [FileNumber: RootReach] = [:]

  package init() {}

  /// How many numbers there are, used or not.
  @usableFromInline package private(set) var capacity = 0

  /// Adds a number at the end.
  ///
  /// - Returns: `nil` when 32 bits don't suffice.
  mutating func grow() -> FileNumber? {
    guard let number = UInt32(exactly: capacity) else { return nil }
    if capacity % Self.pageSize == 0 {
      var page: [FileRow] = []
      page.reserveCapacity(Self.pageSize)
      pages.append(page)
    }
    pages[pages.count - 1].append(FileRow())
    capacity += 1
    return FileNumber(number)
  }

  @inlinable
  package internal(set) subscript(number: FileNumber) -> FileRow {
    get { pages[Int(number.rawValue) / Self.pageSize][Int(number.rawValue) % Self.pageSize] }
    _modify { yield &pages[Int(number.rawValue) / Self.pageSize][Int(number.rawValue) % Self.pageSize] }
  }
}

extension FileTable {
  /// How many bytes pages and names take.
  var byteCount: Int {
    pages.count * (Self.pageSize * MemoryLayout<FileRow>.stride + MemoryLayout<[FileRow]>.stride + 32)
      + names.allocatedByteCount
  }

  /// All numbers that may stand for a file.
  package var numbers: [FileNumber] { (1..<UInt32(max(1, capacity))).map(FileNumber.init) }

  package var pageCount: Int { pages.count }

  /// Calls `body` for each number of some pages, used or not, with its record.
  @inlinable @inline(__always)
  package func forEachRow(inPages range: Range<Int>, _ body: (FileNumber, borrowing FileRow) -> Void) {
    for page in range {
      let rows = pages[page]
      for place in rows.indices { body(FileNumber(UInt32(page * Self.pageSize + place)), rows[place]) }
    }
  }

  /// The tops of scopes.
  package var roots: [FileNumber] { rootPaths.keys.sorted() }

  /// Whether the members of a directory aren't in the index, because only the directory was asked for.
  package func isUnread(_ number: FileNumber) -> Bool { rootReaches[number] == .item }

  /// Whether a number stands for a file.
  @inlinable
  package func contains(_ number: FileNumber) -> Bool {
    Int(number.rawValue) < capacity && self[number].isUsed
  }

  /// The recorded facts of a file.
  package func facts(of number: FileNumber) -> FileFacts {
    let row = self[number]
    return FileFacts(row, volumes[row.volume])
  }

  /// The directory that a file is in; `nil` for the top of a scope.
  package func parent(of number: FileNumber) -> FileNumber? {
    let parent = self[number].parent
    return parent == .none ? nil : parent
  }

  /// The name of a file, byte by byte; the last component of its path for the top of a scope.
  package func name(of number: FileNumber) -> SystemPath {
    rootPaths[number]?.lastComponent ?? SystemPath(bytes: names[self[number].name])
  }

  /// The absolute path of a file, byte by byte.
  ///
  /// - Complexity: O(*n*) in its length.
  package func path(of number: FileNumber) -> SystemPath {
    var steps: [UInt32] = []
    var current = number
    var length = 0
    while rootPaths[current] == nil, current != .none {
      steps.append(self[current].name)
      length += names[self[current].name].count + 1
      current = self[current].parent
    }
    var bytes = rootPaths[current]?.bytes ?? []
    bytes.reserveCapacity(bytes.count + length)
    for step in steps.reversed() {
      if bytes.last != UInt8(ascii: "/") { bytes.append(UInt8(ascii: "/")) }
      bytes += names[step]
    }
    return SystemPath(bytes: bytes)
  }

  /// How many members a directory has.
  ///
  /// - Complexity: O(1).
  package func childCount(of directory: FileNumber) -> Int {
    let first = self[directory].firstChild
    return first == .none ? 0 : Int(self[first].previous.rawValue)
  }

  /// The members of a directory, in no order.
  ///
  /// - Complexity: O(*n*).
  package func children(of directory: FileNumber) -> [FileNumber] {
    var result: [FileNumber] = []
    var child = self[directory].firstChild
    while child != .none {
      result.append(child)
      child = self[child].next
    }
    return result
  }

  /// Calls `body` for a file and everything below it, directories before their members.
  ///
  /// - Complexity: O(*n*). Takes no memory however deep the tree is.
  package func forEach(in top: FileNumber, _ body: (FileNumber) -> Void) {
    _ = forEach(in: top, countMax: .max, body)
  }

  /// Calls `body` for a file and everything below it, directories before their members, unless there's too much.
  ///
  /// - Parameters:
  ///   - top: The file.
  ///   - countMax: After how many calls to give up.
  ///   - body: Called for each.
  /// - Returns: Whether it was called for all.
  package func forEach(in top: FileNumber, countMax: Int, _ body: (FileNumber) -> Void) -> Bool {
    !stopped(in: top, countMax: countMax) { number in
      body(number)
      return false
    }
  }

  /// Calls `body` for a file and everything below it, directories before their members, until it says that this is enough.
  ///
  /// - Parameters:
  ///   - top: The file.
  ///   - countMax: After how many calls to give up.
  ///   - body: Called for each; returns whether to stop.
  /// - Returns: Whether it stopped before it was called for all.
  package func stopped(in top: FileNumber, countMax: Int, _ body: (FileNumber) -> Bool) -> Bool {
    var current = top
    var count = 0
    while true {
      if count == countMax { return true }
      count += 1
      if body(current) { return true }
      if self[current].firstChild != .none {
        current = self[current].firstChild
        continue
      }
      while current != top, self[current].next == .none { current = self[current].parent }
      if current == top { return false }
      current = self[current].next
    }
  }

  /// Whether a file is a directory, or is in it, however deep.
  package func isInside(_ number: FileNumber, _ directory: FileNumber) -> Bool {
    var current = number
    while current != .none {
      if current == directory { return true }
      current = self[current].parent
    }
    return false
  }
}
