internal import FoundationEssentials
internal import SystemInterface

/// A journal that a process has left behind, and what is in it.
struct JournalOrphan: Sendable {
  let held: HeldJournal
  let record: JournalRecord
}

/// The journals that were found in a directory.
struct FoundJournals: Sendable {
  /// Oldest first.
  var orphans: [JournalOrphan] = []
  /// Files that had records of killed processes which can't be read any more, where they are kept now.
  var damaged: [SystemPath] = []
  /// Why others couldn't be read.
  var error: SystemError?
}

/// The journals in a directory.
///
/// Journals of living processes are recognized by their locks. A lock is tried only if its journal is about the file, too old, or
/// unreadable: if another process tried the same lock at that moment, it would take the owner of the journal for alive.
struct JournalDirectory: Sendable {
  let directory: SystemPath
  let files: any FileSystem

  /// How many journals of one file are taken at once; the others stay for the next time.
  static let orphanCountMax = 64

  /// The newest record of a journal, as far as its beginning says.
  private struct Entry {
    let name: String
    var headers: [JournalRecord.Header] = []
    /// When one of its files was changed last.
    var time: Int64 = .min
    var hasLock = false
    /// Whether there's a file with something in it that isn't the beginning of a record.
    var hasUnreadableFile = false
    /// Files that were set aside because they're damaged.
    var damaged: [SystemPath] = []
    /// Why one of them couldn't be read.
    var error: SystemError?

    /// It isn't known whose it is.
    var isUnreadable: Bool { hasLock && hasUnreadableFile && headers.isEmpty }
    var recordTime: Int64 { headers.map(\.time).max() ?? .min }
  }

  /// Takes the journals of a file that nobody has, and removes those of all other files that are too old.
  ///
  /// A journal that can't be read keeps none of the others from being taken. The file's own are never too old: the clock may have been
  /// wrong when they were written, or be wrong now. A damaged record gets another name, under which it stays until it's too old: so it's
  /// found once. Where that can't be done, this process finds it once.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - form: Whether it's a file or a package.
  ///   - oldest: In nanoseconds since 1970; older journals are removed.
  ///   - byteCountMax: How many bytes of contents are taken at once; the newest journal is taken if it alone has as many at most.
  /// - Returns: The journals, at most ``orphanCountMax`` and the newest of them.
  /// - Throws: The error of a system call that reads the directory.
  /// - Complexity: O(journals), and O(bytes) in those that are returned.
  func takeOrphans(
    of path: SystemPath, as form: JournalRecord.Form = .file, notBefore oldest: Int64, byteCountMax: Int = .max
  ) throws(SystemError) -> FoundJournals {
    let status = try files.statusIfPresent(of: path)
    var (found, own): (FoundJournals, [Entry]) = (FoundJournals(), [])
    for entry in try entries() {
      do throws(SystemError) {
        if let error = entry.error { throw error }
        if try belongs(entry, to: path, form, status) {
          own.append(entry)
        } else if entry.isUnreadable {
          _ = try take(entry.name, byteCountMax, &found)
        } else if entry.time < oldest {
          try remove(entry)
        }
      } catch { found.error = found.error ?? error }
    }
    take(own, byteCountMax, &found)
    return found
  }

  /// Takes the journals of files that aren't at their places any more, and whose processes have ended.
  ///
  /// Journals that can't be read stay for the next document that's opened.
  ///
  /// - Parameters:
  ///   - form: Whether they're of files or packages.
  ///   - byteCountMax: As above.
  /// - Returns: The journals, at most ``orphanCountMax`` and the newest of them.
  /// - Throws: The error of a system call that reads the directory.
  /// - Complexity: O(journals), and O(bytes) in those that are returned.
  func takeAbandoned(as form: JournalRecord.Form, byteCountMax: Int) throws(SystemError) -> FoundJournals {
    var (found, abandoned): (FoundJournals, [Entry]) = (FoundJournals(), [])
    for entry in try entries() {
      do throws(SystemError) {
        if let error = entry.error { throw error }
        let newest = entry.headers.max { $0.sequence < $1.sequence }
        if let newest, newest.form == form, try presentItem(newest.path) == nil { abandoned.append(entry) }
      } catch { found.error = found.error ?? error }
    }
    take(abandoned, byteCountMax, &found)
    return found
  }

  private func take(_ entries: [Entry], _ byteCountMax: Int, _ found: inout FoundJournals) {
    var byteCount = 0
    // A journal that replaces others is newer than they are.
    for entry in entries.sorted(by: { $0.recordTime > $1.recordTime }) {
      if found.orphans.count >= Self.orphanCountMax || byteCount >= byteCountMax { break }
      do throws(SystemError) {
        guard let orphan = try take(entry.name, byteCountMax, &found) else { continue }
        byteCount += orphan.record.contents.count
        found.orphans.append(orphan)
      } catch { found.error = found.error ?? error }
    }
    found.orphans.sort { $0.record.header.time < $1.record.header.time }
  }

  /// Removes a journal that's too old; where nothing can be removed, it stays.
  private func remove(_ entry: Entry) throws(SystemError) {
    do throws(SystemError) {
      for path in entry.damaged { try HeldJournal.unlink(path, files) }
      // Taking a lock would make it.
      if entry.hasLock || entry.damaged.isEmpty {
        try HeldJournal.take(entry.name, in: directory)?.remove(newest: nil, files)
      }
    } catch {
      guard error.isRefusal else { throw error }
    }
  }

  /// It's the file's by its path, or because the file has moved since.
  private func belongs(
    _ entry: Entry, to path: SystemPath, _ form: JournalRecord.Form, _ status: FileStatus?
  ) throws(SystemError) -> Bool {
    for header in entry.headers where header.form == form {
      if header.path == path { return true }
      guard let status, header.identity == status.identity else { continue }
      // A file that was made later has the inode of one that was deleted.
      if let time = status.creationTime, time > header.time { continue }
      // A link may be at its former place that leads to where it's now.
      let present = try presentItem(header.path)
      if present == nil || present == status.identity { return true }
    }
    return false
  }

  private func presentItem(_ path: SystemPath) throws(SystemError) -> FileIdentity? {
    do throws(SystemError) {
      return try files.status(of: path, at: .workingDirectory, links: .follow).identity
    } catch {
      if error.isAbsence || error.number == .tooManySymbolicLinkLevels { return nil }
      throw error
    }
  }

  /// Locks a journal and reads it again: the record that was read before may have been half written by a process that
  /// lived.
  ///
  /// It's also taken where it can only be read, for example on a read-only volume: its contents can be saved elsewhere.
  private func take(
    _ name: String, _ byteCountMax: Int, _ found: inout FoundJournals
  ) throws(SystemError) -> JournalOrphan? {
    guard let held = try HeldJournal.takeForReading(name, in: directory) else { return nil }
    var (records, damaged, cutOff): ([JournalRecord], [SystemPath], [SystemPath]) = ([], [], [])
    for slot in UInt64(0)...1 {
      let path = held.path(ofSlot: slot)
      guard let bytes = try bytes(of: path, accepting: byteCountMax), !bytes.isEmpty else { continue }
      switch JournalRecord.read(bytes) {
      case .whole(let record): records.append(record)
      case .damaged: damaged.append(path)
      case .cutOff: cutOff.append(path)
      }
    }
    let newest = records.max { $0.header.sequence < $1.header.sequence }
    // Beside a whole record, one that was cut off is what the process was about to write when it was killed.
    if newest == nil { damaged += cutOff }
    for path in damaged {
      if !held.isReadOnly {
        found.damaged.append(try setAside(path))
      } else if Self.reported.note(path, try files.statusIfPresent(of: path)) {
        found.damaged.append(path)
      }
    }
    guard let newest else {
      if !damaged.isEmpty, !held.isReadOnly { try held.remove(newest: nil, files) }
      held.lock?.release()
      return nil
    }
    return JournalOrphan(held: held, record: newest)
  }

  static let damagedSuffix = "-damaged"

  /// Damaged files that this process has found where they can't get another name.
  private static let reported = ReportedFiles()

  /// Gives a damaged record a name under which no journal is looked for.
  private func setAside(_ path: SystemPath) throws(SystemError) -> SystemPath {
    let aside = SystemPath(bytes: path.bytes + Array(Self.damagedSuffix.utf8))
    try files.rename(path, at: .workingDirectory, to: aside, at: .workingDirectory, .replacing)
    return aside
  }

  private func entries() throws(SystemError) -> [Entry] {
    var entries: [String: Entry] = [:]
    for name in try files.names(in: directory, flags: [.directory, .noFollow]) {
      let parts = name.description.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, Self.suffixes.contains(parts[1]) else { continue }
      let path = directory.appending(name)
      guard let status = try files.statusIfPresent(of: path), status.kind == .regular else { continue }
      var entry = entries[parts[0]] ?? Entry(name: parts[0])
      entry.time = max(entry.time, status.modificationTime)
      if parts[1].hasSuffix(Self.damagedSuffix) {
        entry.damaged.append(path)
      } else if parts[1] == "lock" {
        entry.hasLock = true
      } else {
        readHeader(path, into: &entry)
      }
      entries[parts[0]] = entry
    }
    return entries.values.sorted { $0.name < $1.name }
  }

  private static let suffixes = ["0", "1", "lock", "0" + damagedSuffix, "1" + damagedSuffix]

  private func readHeader(_ path: SystemPath, into entry: inout Entry) {
    do throws(SystemError) {
      guard let bytes = try bytes(of: path, max: JournalRecord.headerLengthMax), !bytes.isEmpty else { return }
      if let header = JournalRecord.header(bytes) {
        entry.headers.append(header)
      } else {
        entry.hasUnreadableFile = true
      }
    } catch { entry.error = error }
  }

  /// A whole file, unless it's larger than any record with so many bytes of contents.
  private func bytes(of path: SystemPath, accepting byteCountMax: Int) throws(SystemError) -> [UInt8]? {
    let (sum, isOverflowing) = byteCountMax.addingReportingOverflow(JournalRecord.lengthMax)
    guard !isOverflowing else { return try bytes(of: path, max: .max) }
    guard let bytes = try bytes(of: path, max: sum + 1) else { return nil }
    if bytes.count <= sum { return bytes }
    throw SystemError(
      call: "read(2)", paths: [path], errno: SystemError.Number.fileTooLarge.rawValue,
      advice: "The journal has more bytes than 'CrashJournal.byteCountMax'. It stays where it is; allow more to get it."
    )
  }

  /// The beginning of a file; `nil` if it's gone, or isn't a file.
  private func bytes(of path: SystemPath, max count: Int) throws(SystemError) -> [UInt8]? {
    do throws(SystemError) {
      return try files.withDescriptor(path, flags: [.noFollow, .nonBlocking]) { (file) throws(SystemError) in
        let status = try files.status(of: file)
        if status.kind != .regular { return nil }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(count, max(512, min(Int(clamping: status.size), 1 << 20) + 1)))
        while bytes.count < count {
          let read = try files.read(file, into: &chunk)
          if read == 0 { break }
          bytes += chunk[..<min(read, count - bytes.count)]
        }
        return bytes
      }
    } catch let error {
      if error.isAbsence || error.number == .tooManySymbolicLinkLevels { return nil }
      throw error
    }
  }
}
