internal import FoundationEssentials
internal import SystemInterface

/// The journal that this process writes for a document.
///
/// It's a lock, which the kernel releases when the process ends, and two files that are written in turns: while one is written, the
/// other one has the record before. All methods block for the disk, and are called one at a time.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | operations run on threads of their own, one after the other |
final class JournalFile: Sendable {
  private struct State: Sendable {
    var held: HeldJournal?
    /// How many records were written.
    var sequence: UInt64 = 0
    /// How many of them to the files of this lock.
    var recordCount = 0
  }

  private let journal: CrashJournal
  private let files: any FileSystem
  private let state = Guarded(State())

  init(_ journal: CrashJournal, _ files: any FileSystem) {
    self.journal = journal
    self.files = files
  }

  /// Writes a record, which is on the disk on return.
  ///
  /// - Parameters:
  ///   - contents: The unsaved contents.
  ///   - header: The file, and the base, to which the record belongs; its number is set here.
  /// - Throws: The error of a system call; the record before is whole then.
  func write(_ contents: [UInt8], _ header: JournalRecord.Header) throws(SystemError) {
    try journal.write(for: header.path) { (directory) throws(SystemError) in try write(contents, header, in: directory)
    }
  }

  private func write(
    _ contents: [UInt8], _ header: JournalRecord.Header, in directory: SystemPath
  ) throws(SystemError) {
    var state = state.withLock { $0 }
    // The file has moved to another volume, or somebody has removed the directory.
    let former = state.held.flatMap { $0.directory == directory && $0.lock?.hasItsName == true ? nil : $0 }
    let held: HeldJournal
    if let present = state.held, former == nil {
      held = present
    } else {
      held = try HeldJournal.make(in: directory)
      state.recordCount = 0
    }
    let formerNumber = state.sequence
    var header = header
    header.sequence = formerNumber + 1
    do throws(SystemError) {
      // Both files are made by the first two records.
      let isNew = state.recordCount < 2
      try write(JournalRecord(header: header, contents: contents).bytes, held, header.sequence, isNew: isNew)
    } catch {
      if former != nil { try? held.remove(newest: header.sequence, files) }
      // An incomplete record is locked nevertheless, and removed with the rest.
      if former == nil { self.state.withLock { $0.held = held } }
      throw error
    }
    state.held = held
    state.sequence = header.sequence
    state.recordCount += 1
    self.state.withLock { [state] in $0 = state }
    try former?.remove(newest: formerNumber, files)
  }

  private func write(
    _ bytes: [UInt8], _ held: HeldJournal, _ sequence: UInt64, isNew: Bool
  ) throws(SystemError) {
    let path = held.path(ofSlot: sequence)
    try locatingErrors(at: path) { () throws(SystemError) in
      try files.withDescriptor(path, flags: [.create, .writeOnly, .truncate, .noFollow, .nonBlocking], mode: 0o600) {
        (file) throws(SystemError) in
        do throws(SystemError) {
          try files.writeAll(bytes, to: file)
          try files.synchronize(file)
        } catch {
          // The room that it takes is of use to the next one.
          try? files.truncate(file, to: 0)
          throw error
        }
      }
      if isNew {
        try files.withDescriptor(held.directory, flags: .directory) { (directory) throws(SystemError) in
          try files.synchronizeDirectory(directory)
        }
      }
    }
  }

  /// Removes the files, the newest record last: an older one is never the only one that's there.
  ///
  /// - Throws: The error of a system call; it may be called again.
  func remove() throws(SystemError) {
    let state = state.withLock { $0 }
    try state.held?.remove(newest: state.sequence, files)
    self.state.withLock {
      $0.held = nil
      $0.recordCount = 0
    }
  }
}

/// The files of a journal whose lock this process has.
struct HeldJournal: Sendable {
  let directory: SystemPath
  let name: String
  /// Absent where no lock can be made, and none is there: every process that writes a journal has one.
  let lock: HeldLock?
  /// Whether its files can't be altered, so that others may read them at the same time.
  var isReadOnly = false

  private static let attemptCountMax = 16
  static let lockSuffix = ".lock"

  func path(ofSlot sequence: UInt64) -> SystemPath { Self.path(ofSlot: sequence, of: name, in: directory) }

  static func path(ofSlot sequence: UInt64, of name: String, in directory: SystemPath) -> SystemPath {
    directory.appending("\(name).\(sequence % 2)")
  }

  /// Takes the lock of a journal that's there; `nil` if a process has it.
  static func take(_ name: String, in directory: SystemPath) throws(SystemError) -> HeldJournal? {
    try LockFile(directory.appending(name + lockSuffix)).tryLock().map {
      HeldJournal(directory: directory, name: name, lock: $0)
    }
  }

  /// The same where the lock can't be written; the journal can be read, and not removed.
  static func takeForReading(_ name: String, in directory: SystemPath) throws(SystemError) -> HeldJournal? {
    do throws(SystemError) {
      return try take(name, in: directory)
    } catch {
      guard error.isRefusal else { throw error }
    }
    do throws(SystemError) {
      guard let lock = try LockFile(directory.appending(name + lockSuffix)).tryShare() else { return nil }
      return HeldJournal(directory: directory, name: name, lock: lock, isReadOnly: true)
    } catch {
      guard error.isAbsence else { throw error }
      return HeldJournal(directory: directory, name: name, lock: nil, isReadOnly: true)
    }
  }

  static func make(in directory: SystemPath) throws(SystemError) -> HeldJournal {
    for _ in 0..<attemptCountMax {
      let name = String(UInt64.random(in: .min ... .max), radix: 36)
      if let held = try take(name, in: directory) { return held }
    }
    throw SystemError(
      call: "fcntl(2)", paths: [directory], errno: SystemError.Number.fileExists.rawValue,
      advice: "Others have locked all names that were tried.")
  }

  /// Removes the files; `sequence` is the number of the newest record, which goes last.
  func remove(newest sequence: UInt64?, _ files: any FileSystem) throws(SystemError) {
    let newest = sequence ?? 0
    for path in [path(ofSlot: newest + 1), path(ofSlot: newest), directory.appending(name + Self.lockSuffix)] {
      try Self.unlink(path, files)
    }
    lock?.release()
  }

  static func unlink(_ path: SystemPath, _ files: any FileSystem) throws(SystemError) {
    do throws(SystemError) { try files.unlink(path, at: .workingDirectory, .file) } catch let error {
      if !error.isAbsence { throw error }
    }
  }
}
