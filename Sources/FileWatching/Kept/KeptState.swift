internal import SystemInterface

/// An index with the data needed to keep it: a value that any thread may write.
struct KeptState: Sendable {
  let table: FileTable
  let watches: WatchMap
  /// Directories of which the kernel doesn't report every change.
  let blind: Set<FileNumber>
  /// All that was done before is in the index, as files get it for their times.
  let moment: Int64

  /// How long before that a directory must have changed last, so that no later change in it can have the same time.
  ///
  /// File systems count in steps of up to two seconds.
  static let restDuration: Int64 = 3_000_000_000

  func bytes(scope: [UInt8]) -> [UInt8] {
    KeptIndexWriter(table) { number, facts in
      facts.changeTime < moment - Self.restDuration && watches.isSure(number) && !blind.contains(number)
    }.write(scope: scope)
  }
}

extension ScopeCore {
  /// The index, to be kept for a later run.
  ///
  /// - Parameter moment: When everything was in the index that had been done before.
  /// - Returns: The index, with all that's needed to write it; `nil` if it isn't complete.
  func keptState(settledAt moment: Int64) -> KeptState? {
    if isFull { return nil }
    return KeptState(
      table: index.table, watches: watches, blind: polled.union(unreadable.keys).union(doubles), moment: moment)
  }

  /// Begins with the index at the end of a former run.
  ///
  /// Each of its directories is checked before it counts.
  ///
  /// To be called before anything is read. The index after reading corresponds to the disk, independent of the former
  /// index.
  ///
  /// - Parameters:
  ///   - reader: The kept index.
  ///   - moment: The time, as files get it.
  mutating func restore(_ reader: KeptIndexReader, at moment: Int64) {
    var reader = reader
    var restorer = KeptIndexRestorer(readAt: moment)
    guard let count = reader.number(UInt32.self) else { return }
    for _ in 0..<count {
      guard let path = reader.blob() else { break }
      let place = SystemPath(bytes: reader.bytes[path])
      let root = roots.first { $0.path == place && $0.reach != .item }?.number
      if !restorer.restore(root, from: &reader, in: &self) { break }
    }
    // Directories before those that are in them: a directory that isn't there any more takes its contents with it.
    for directory in restorer.directories.reversed() where index.table.contains(directory) { queue.push(directory) }
  }
}

/// Puts a kept index into a new one.
private struct KeptIndexRestorer {
  /// Directories whose members have been put into the index.
  private(set) var directories: [FileNumber] = []
  private let moment: Int64

  init(readAt moment: Int64) { self.moment = moment }

  /// Reads one place.
  ///
  /// - Parameters:
  ///   - root: The file at the place, if there's one.
  ///   - reader: Where to read.
  ///   - core: Receives the files.
  /// - Returns: Whether the whole place could be read.
  mutating func restore(_ root: FileNumber?, from reader: inout KeptIndexReader, in core: inout ScopeCore) -> Bool {
    guard let record = reader.record() else { return false }
    let isSame = root.map { core.index.table.facts(of: $0).identity.inode == record.inode } ?? false
    /// The directories on the way, each with its device and how many members it has yet.
    var way: [(number: FileNumber?, device: UInt64, count: Int)] = []
    func enter(_ record: KeptIndexReader.Record, _ number: FileNumber?) {
      if record.kind != .directory { return }
      if let number { note(record, number, &core) }
      way.append((number, record.fields[0], record.memberCount))
    }
    enter(record, isSame ? root : nil)
    while let (directory, device, count) = way.last {
      if count == 0 {
        way.removeLast()
        continue
      }
      way[way.count - 1].count -= 1
      guard let member = reader.record() else { return false }
      enter(member, directory.flatMap { insert(member, reader, in: $0, device, &core) })
    }
    return true
  }

  private func insert(
    _ record: KeptIndexReader.Record, _ reader: KeptIndexReader, in directory: FileNumber, _ device: UInt64,
    _ core: inout ScopeCore
  ) -> FileNumber? {
    let name = reader.bytes.span.extracting(record.name)
    if name.isEmpty || core.index.child(named: name, of: directory) != nil { return nil }
    let facts = record.facts(device: device, readAt: moment)
    guard let number = core.index.insert(name, in: directory, facts) else {
      core.isFull = true
      return nil
    }
    core.changes.files.insert(number)
    core.changes.recounted.insert(directory)
    if facts.kind == .symbolicLink { core.noteLink(number) }
    return number
  }

  private mutating func note(_ record: KeptIndexReader.Record, _ number: FileNumber, _ core: inout ScopeCore) {
    directories.append(number)
    core.restored.insert(number)
    if record.isTrusted {
      core.kept[number] = KeptDirectory(record.facts(device: record.fields[0], readAt: moment))
    }
  }
}
