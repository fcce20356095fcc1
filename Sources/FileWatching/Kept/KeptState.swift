internal import SystemInterface

/// An index with what has to be known to keep it: a value that any thread may write.
struct KeptState: Sendable {
  let table: FileTable
  let watches: WatchMap
  /// Directories of which the kernel doesn't tell everything.
  let blind: Set<FileNumber>
  /// All that was done before is in the index, as files get it for their times.
  let moment: Int64

  /// How long before that a directory must have changed last, so that nothing can have changed in it since at the same time.
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
  /// What is known, to be kept for a later run.
  ///
  /// - Parameter moment: When everything was in the index that had been done before.
  /// - Returns: That, with all that's needed to write it; `nil` if it isn't everything.
  func keptState(settledAt moment: Int64) -> KeptState? {
    if isFull { return nil }
    return KeptState(
      table: index.table, watches: watches, blind: polled.union(unreadable).union(doubles), moment: moment)
  }

  /// Begins with what was known at the end of a former run, of which each directory is looked at before it counts.
  ///
  /// To be called before anything is read. Whatever the index was, what is known after reading is what is there.
  ///
  /// - Parameters:
  ///   - reader: What was kept.
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
    // Directories before those that are in them: what isn't there any more takes its own with it.
    for directory in restorer.directories.reversed() where index.table.contains(directory) { queue.push(directory) }
  }
}

/// Puts what was kept into an index.
private struct KeptIndexRestorer {
  /// Directories whose members have been put into the index.
  private(set) var directories: [FileNumber] = []
  private let moment: Int64

  init(readAt moment: Int64) { self.moment = moment }

  /// Reads one place.
  ///
  /// - Parameters:
  ///   - root: What the place stands for, if anything is there.
  ///   - reader: Where to read.
  ///   - core: What gets the files.
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
    if facts.kind == .symbolicLink { core.noteLink(number) }
    return number
  }

  private mutating func note(_ record: KeptIndexReader.Record, _ number: FileNumber, _ core: inout ScopeCore) {
    directories.append(number)
    if record.isTrusted {
      core.kept[number] = KeptDirectory(record.facts(device: record.fields[0], readAt: moment))
    }
  }
}
