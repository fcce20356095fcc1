internal import FoundationEssentials
internal import SystemInterface

/// A journal that a process has left behind, and what is in it.
struct JournalOrphan: Sendable {
  let held: HeldJournal
  let record: JournalRecord
}

/// The journals in a directory.
///
/// Journals of living processes are recognized by their locks. A lock is tried only if its journal is about the file, or too old: if
/// another process tried the same lock at that moment, it would take the owner of the journal for alive.
struct JournalDirectory: Sendable {
  let directory: SystemPath
  let files: any FileSystem

  /// The newest record of a journal, as far as its beginning says.
  private struct Entry {
    let name: String
    var headers: [JournalRecord.Header] = []
    /// When one of its files was changed last.
    var time: Int64 = .min
    /// Why one of them couldn't be read.
    var error: SystemError?
  }

  /// Takes the journals of a file that nobody has, and removes those of all other files that are too old.
  ///
  /// A journal that can't be read keeps none of the others from being taken. The file's own are never too old: the clock may have been
  /// wrong when they were written, or be wrong now.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - oldest: In nanoseconds since 1970; older journals are removed.
  /// - Returns: The journals, oldest first, and why others couldn't be read.
  /// - Throws: The error of a system call that reads the directory.
  /// - Complexity: O(journals), and O(bytes) in those that are returned.
  func takeOrphans(
    of path: SystemPath, notBefore oldest: Int64
  ) throws(SystemError) -> (orphans: [JournalOrphan], error: SystemError?) {
    let status = try files.statusIfPresent(of: path)
    var (orphans, firstError): ([JournalOrphan], SystemError?) = ([], nil)
    for entry in try entries() {
      do throws(SystemError) {
        if let error = entry.error { throw error }
        if try belongs(entry, to: path, status), let orphan = try take(entry.name) {
          orphans.append(orphan)
        } else if entry.time < oldest {
          try HeldJournal.take(entry.name, in: directory)?.remove(newest: nil, files)
        }
      } catch { firstError = firstError ?? error }
    }
    return (orphans.sorted { $0.record.header.time < $1.record.header.time }, firstError)
  }

  /// It's the file's by its path, or because the file has moved since.
  private func belongs(
    _ entry: Entry, to path: SystemPath, _ status: FileStatus?
  ) throws(SystemError) -> Bool {
    for header in entry.headers {
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
  private func take(_ name: String) throws(SystemError) -> JournalOrphan? {
    guard let held = try HeldJournal.take(name, in: directory) else { return nil }
    var records: [JournalRecord] = []
    for slot in UInt64(0)...1 {
      if let record = try bytes(of: held.path(ofSlot: slot), max: .max).flatMap(JournalRecord.init) {
        records.append(record)
      }
    }
    guard let newest = records.max(by: { $0.header.sequence < $1.header.sequence }) else {
      held.lock.release()
      return nil
    }
    return JournalOrphan(held: held, record: newest)
  }

  private func entries() throws(SystemError) -> [Entry] {
    var entries: [String: Entry] = [:]
    for name in try files.names(in: directory, flags: [.directory, .noFollow]) {
      let parts = name.description.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count == 2, ["0", "1", "lock"].contains(parts[1]) else { continue }
      let key = String(parts[0])
      var entry = entries[key] ?? Entry(name: key)
      let path = directory.appending(name)
      guard let status = try files.statusIfPresent(of: path), status.kind == .regular else { continue }
      entry.time = max(entry.time, status.modificationTime)
      do throws(SystemError) {
        if parts[1] != "lock", let bytes = try bytes(of: path, max: JournalRecord.headerLengthMax),
          let header = JournalRecord.header(bytes)
        {
          entry.headers.append(header)
        }
      } catch { entry.error = error }
      entries[key] = entry
    }
    return entries.values.sorted { $0.name < $1.name }
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
