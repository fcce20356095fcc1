internal import KeyValueReplicas
internal import SystemInterface

/// The replica of a store as one process has it open: its journal, and the state that the journal's events lead to.
///
/// All processes append to one file while they have it locked, and take in what others have appended before. So each of them takes the
/// same events in the same order. A journal that has become long is written anew, and begins with the state; processes that have the
/// former file open notice that it has no name any more. If somebody removes it, its values are gone for all processes; the next write makes
/// a new one, and its directory if need be.
///
/// Functions block for system calls, and for a moment while another process has the lock. For one thread at a time.
struct ReplicaFile: ~Copyable, Sendable {
  private let files: any FileSystem
  private let path: SystemPath
  private let makeDirectory: @Sendable () throws(SystemError) -> Void
  private let makeCore: @Sendable (ReplicaID) -> ReplicaCore
  /// How often the file has become another one: its directory may be another one then, too.
  private(set) var reopenCount = 0
  private(set) var core: ReplicaCore
  /// The changes by others that have been taken in and not been taken by ``takeChanges()``.
  private var changes: [StoreChange] = []
  private var descriptor: FileDescriptor
  /// Where the last whole event ends.
  private var length = 0
  /// Behind them is the beginning of one whose process was killed while it wrote.
  private var hasTornEnd = false
  /// Whether the file that's open is the one that ``core`` and ``length`` are of.
  private var isLoaded = false
  /// From this length on the journal is written anew.
  private var lengthMax: Int
  private let lengthMin: Int
  /// For how long a lock of another process is waited for.
  private let patience: Duration

  /// Opens the journal in a directory; makes it if it isn't there.
  ///
  /// `makeDirectory` makes the directory again, if somebody has removed it meanwhile.
  static func opened(
    in directory: SystemPath, files: any FileSystem = HostFileSystem(), compactingFrom lengthMin: Int = 256 << 10,
    patience: Duration = .seconds(30), remaking makeDirectory: @escaping @Sendable () throws(SystemError) -> Void = {},
    making makeCore: @escaping @Sendable (ReplicaID) -> ReplicaCore
  ) throws(KeyValueStoreError) -> ReplicaFile {
    let path = directory.appending("journal")
    let descriptor = try translating { () throws(SystemError) in try open(path, files, isMaking: true) }
    var file = ReplicaFile(descriptor, path, files, lengthMin, patience, makeDirectory, makeCore)
    try file.begin()
    return file
  }

  private init(
    _ descriptor: FileDescriptor, _ path: SystemPath, _ files: any FileSystem, _ lengthMin: Int, _ patience: Duration,
    _ makeDirectory: @escaping @Sendable () throws(SystemError) -> Void,
    _ makeCore: @escaping @Sendable (ReplicaID) -> ReplicaCore
  ) {
    self.descriptor = descriptor
    self.path = path
    self.files = files
    self.makeDirectory = makeDirectory
    self.makeCore = makeCore
    self.lengthMin = lengthMin
    self.patience = patience
    lengthMax = lengthMin
    core = makeCore(ReplicaID(rawValue: 0))
  }

  deinit { try? files.close(descriptor) }

  private static func open(
    _ path: SystemPath, _ files: any FileSystem, isMaking: Bool
  ) throws(SystemError) -> FileDescriptor {
    var flags: OpenFlags = [.readWrite, .append, .noFollow, .nonBlocking]
    if isMaking { flags.insert(.create) }
    let descriptor: FileDescriptor
    do throws(SystemError) {
      descriptor = try files.open(path, at: .workingDirectory, flags: flags, mode: 0o600)
    } catch {
      throw advised(error)
    }
    do throws(SystemError) {
      let status = try files.status(of: descriptor)
      if status.kind != .regular || status.owner != HostUser.effectiveUserID {
        throw SystemError(
          call: "openat(2)", paths: [path],
          errno: (status.kind == .regular ? SystemError.Number.notPermitted : .notADirectory).rawValue,
          advice: "It has to be a file of this user. Have it removed.")
      }
      if status.mode & 0o077 != 0 { try files.setMode(of: descriptor, to: 0o600) }
      return descriptor
    } catch {
      try? files.close(descriptor)
      throw error
    }
  }

  private static func advised(_ error: SystemError) -> SystemError {
    var error = error
    switch error.number {
    case .tooManySymbolicLinkLevels, .isADirectory:
      error.advice = "Something that no store has made has the name of its journal. Have it removed."
    case .permissionDenied: error.advice = "A store's user must be able to read and write its journal: chmod u+rw."
    case .readOnlyFileSystem: error.advice = "A store can only be opened where its journal can be written."
    default: break
    }
    return error
  }

  /// Reads the file for the first time.
  private mutating func begin() throws(KeyValueStoreError) {
    try withLock { (file) throws(KeyValueStoreError) in
      try file.takeInOthers(isMaking: true)
      // Nobody has had other values.
      _ = file.takeChanges()
    }
  }

  /// Reads the whole file, which is locked, in the place of what is known.
  private mutating func load() throws(KeyValueStoreError) {
    let bytes = try read(from: 0)
    guard let contents = try parsing({ () throws(ReplicaJournal.Failure) in try ReplicaJournal.read(bytes) }) else {
      let replica = ReplicaID(rawValue: .random(in: 1 ... .max))
      let head = ReplicaJournal.head(of: replica)
      try translating { () throws(SystemError) in
        try files.truncate(descriptor, to: 0)
        try files.writeAll(head, to: descriptor)
        try files.synchronize(descriptor)
        try files.withDescriptor(path.parent, flags: .directory) { (directory) throws(SystemError) in
          try files.synchronizeDirectory(directory)
        }
      }
      core = makeCore(replica)
      (length, hasTornEnd, isLoaded) = (head.count, false, true)
      return
    }
    core = makeCore(contents.replica)
    for record in contents.records { _ = core.replay(record.input, at: record.now) }
    (length, hasTornEnd, isLoaded) = (contents.length, contents.length < bytes.count, true)
  }

  // MARK: Calls

  /// Whether others may have appended something; one system call, without the lock.
  func mayHaveNews() -> Bool {
    guard let status = try? files.status(of: descriptor) else { return true }
    return Int(status.size) != length || status.linkCount == 0
  }

  /// Takes in what others have appended.
  mutating func catchUp() throws(KeyValueStoreError) {
    try withLock { (file) throws(KeyValueStoreError) in try file.takeInOthers(isMaking: false) }
  }

  /// The changes by others that calls have found since the last time, also those that failed.
  mutating func takeChanges() -> [StoreChange] {
    defer { changes = [] }
    return changes
  }

  /// Appends an event, which is in the file when it returns.
  ///
  /// - Parameters:
  ///   - now: In nanoseconds since 1970.
  ///   - input: Makes the event when everything that others have appended is known; `nil` for none.
  /// - Returns: The tasks after the event.
  /// - Throws: The reason why nothing was changed.
  mutating func append(
    at now: Int64, _ input: (ReplicaCore) throws(KeyValueStoreError) -> ReplicaInput?
  ) throws(KeyValueStoreError) -> [ReplicaEffect] {
    try withLock { (file) throws(KeyValueStoreError) in try file.appendLocked(at: now, input) }
  }

  private mutating func appendLocked(
    at now: Int64, _ input: (ReplicaCore) throws(KeyValueStoreError) -> ReplicaInput?
  ) throws(KeyValueStoreError) -> [ReplicaEffect] {
    try takeInOthers(isMaking: true)
    guard let event = try writeMakingRoom(at: now, input) else { return [] }
    let effects = core.replay(event, at: now)
    // Everything is in the file already: a journal that can't be written anew now will be the next time.
    if length >= lengthMax, core.keyWithoutFunction == nil { try? compact(at: now, isMaking: false) }
    return effects
  }

  /// Moves all values to another account's journal.
  ///
  /// Other processes wait meanwhile, so that none of them writes a value that would be removed. It's the only place where one thread has two
  /// journals locked. If the process ends in the middle, all values are still here, and are moved the next time.
  mutating func transferAll(
    to other: inout ReplicaFile, at now: Int64, isForced: Bool
  ) throws(KeyValueStoreError) {
    try withLock { (file) throws(KeyValueStoreError) in
      try file.takeInOthers(isMaking: false)
      let values = file.core.table.sorted().map { KeyWrite($0.key, $0.value) }
      if values.isEmpty { return }
      for part in other.core.parts(of: values) {
        _ = try other.append(at: now) { (core) throws(KeyValueStoreError) in
          let input: ReplicaInput = isForced ? .write(part, isForced: true) : .moved(part)
          do throws(WriteRefusal) { try core.check(input) } catch { throw KeyValueStoreError(error) }
          return input
        }
      }
      try other.settle()
      let removals = values.map { KeyWrite($0.key, nil) }
      for part in file.core.parts(of: removals) {
        _ = try file.appendLocked(at: now) { (_) in .write(part, isForced: true) }
      }
    }
  }

  /// Waits until all events are on the disk, and the names that lead to them: of the file, the store and the account.
  private func settle() throws(KeyValueStoreError) {
    try translating { () throws(SystemError) in
      try files.synchronize(descriptor)
      for directory in [path.parent, path.parent.parent, path.parent.parent.parent] {
        try files.withDescriptor(directory, flags: .directory) { (directory) throws(SystemError) in
          try files.synchronizeDirectory(directory)
        }
      }
    }
  }

  /// Waits until all events are on the disk.
  static func synchronize(in directory: SystemPath, _ files: any FileSystem) throws(KeyValueStoreError) {
    try translating { () throws(SystemError) in
      try files.withDescriptor(directory.appending("journal"), flags: [.noFollow, .nonBlocking]) {
        (file) throws(SystemError) in try files.synchronize(file)
      }
    }
  }

  // MARK: Parts

  /// Takes in everything up to the end of the file that has the journal's name.
  ///
  /// If somebody has removed it, it's made if `isMaking`. Otherwise there are no values then: the directory may be about to be removed, too.
  private mutating func takeInOthers(isMaking: Bool) throws(KeyValueStoreError) {
    while true {
      let status = try status()
      if isLoaded {
        try readAppended(Int(status.size))
        if status.linkCount > 0 { return }
      } else if status.linkCount > 0 {
        // A new file begins with the state.
        let former = core
        try load()
        changes += difference(former)
        return
      }
      if try !reopen(isMaking: isMaking) {
        let former = core
        core = makeCore(ReplicaID(rawValue: 0))
        isLoaded = false
        changes += difference(former)
        return
      }
    }
  }

  private mutating func readAppended(_ size: Int) throws(KeyValueStoreError) {
    if size < length {
      throw KeyValueStoreError(
        .damaged, "the journal '\(path)' has become shorter: another program has cut it off. Restore it from a backup.")
    }
    hasTornEnd = false
    if size == length { return }
    let bytes = try read(from: length)
    let (records, count) = try parsing { () throws(ReplicaJournal.Failure) in try ReplicaJournal.readAppended(bytes) }
    for record in records { replay(record) }
    length += count
    hasTornEnd = length < size
  }

  /// The file has no name any more: another process has written it anew, or somebody has removed it.
  ///
  /// - Returns: Whether there's one.
  private mutating func reopen(isMaking: Bool) throws(KeyValueStoreError) -> Bool {
    guard let next = try translating({ () throws(SystemError) in try openAgain(isMaking: isMaking) }) else {
      return false
    }
    do throws(KeyValueStoreError) { try lock(next) } catch {
      try? files.close(next)
      throw error
    }
    try? files.close(descriptor)
    descriptor = next
    isLoaded = false
    reopenCount += 1
    return true
  }

  private func openAgain(isMaking: Bool) throws(SystemError) -> FileDescriptor? {
    do throws(SystemError) { return try Self.open(path, files, isMaking: isMaking) } catch {
      guard error.number == .noSuchFileOrDirectory else { throw error }
    }
    if !isMaking { return nil }
    try makeDirectory()
    return try Self.open(path, files, isMaking: true)
  }

  private mutating func replay(_ record: ReplicaJournal.Record) {
    let writes: [KeyWrite]
    switch record.input {
    case .write(let all, _), .moved(let all): writes = all
    case .received, .uploadIsDue, .uploadWasDue, .uploadEnded, .configured, .restored:
      for effect in core.replay(record.input, at: record.now) {
        if case .changed(let change) = effect { changes.append(change) }
      }
      return
    }
    let former = core
    _ = core.replay(record.input, at: record.now)
    let items = writes.sorted { $0.key < $1.key }.compactMap { write in
      former[write.key] == core[write.key]
        ? nil : StoreChange.Item(key: write.key, old: former[write.key], new: core[write.key])
    }
    if !items.isEmpty { changes.append(StoreChange(reason: .otherProcess, items: items)) }
  }

  private func difference(_ former: ReplicaCore) -> [StoreChange] {
    let items = former.table.difference(to: core.table)
    return items.isEmpty ? [] : [StoreChange(reason: .otherProcess, items: items)]
  }

  /// Appends; on a full disk, after the journal was written anew without what isn't needed any more.
  ///
  /// - Returns: The event that's in the file.
  private mutating func writeMakingRoom(
    at now: Int64, _ input: (ReplicaCore) throws(KeyValueStoreError) -> ReplicaInput?
  ) throws(KeyValueStoreError) -> ReplicaInput? {
    guard let event = try input(core) else { return nil }
    let reason: KeyValueStoreError
    do throws(KeyValueStoreError) {
      try write(event, at: now)
      return event
    } catch {
      guard error.code == .noSpace else { throw error }
      if core.keyWithoutFunction != nil { throw noRoom(error) }
      reason = error
    }
    do throws(KeyValueStoreError) { try compact(at: now, isMaking: true) } catch { throw noRoom(reason) }
    // Others may have written something meanwhile.
    guard let event = try input(core) else { return nil }
    do throws(KeyValueStoreError) { try write(event, at: now) } catch { throw noRoom(reason) }
    return event
  }

  private func noRoom(_ reason: KeyValueStoreError) -> KeyValueStoreError {
    KeyValueStoreError(
      .noSpace,
      "there's no room for '\(path)' on its volume. Nothing was changed; remove other files there, and try again. "
        + reason.message)
  }

  private mutating func write(_ input: ReplicaInput, at now: Int64) throws(KeyValueStoreError) {
    let bytes = ReplicaJournal.bytes(of: ReplicaJournal.Record(input, at: now))
    try translating { () throws(SystemError) in
      if hasTornEnd { try files.truncate(descriptor, to: Int64(length)) }
      hasTornEnd = true
      do throws(SystemError) {
        try files.writeAll(bytes, to: descriptor)
      } catch {
        // Otherwise the next writer cuts it off.
        try? files.truncate(descriptor, to: Int64(length))
        throw error
      }
      hasTornEnd = false
    }
    length += bytes.count
  }

  /// Writes the journal anew, with the state in the place of all events, and reads it.
  ///
  /// Nobody has the new file locked before it's opened here, so others may have appended to it, or have written it anew once more.
  private mutating func compact(at now: Int64, isMaking: Bool) throws(KeyValueStoreError) {
    let record = ReplicaJournal.Record(.restored(core.state), at: now)
    let bytes = ReplicaJournal.head(of: core.replica) + ReplicaJournal.bytes(of: record)
    try translating { () throws(SystemError) in try files.replaceContents(of: path, with: bytes) }
    try takeInOthers(isMaking: isMaking)
    lengthMax = max(lengthMin, 4 * length)
  }

  private func read(from offset: Int) throws(KeyValueStoreError) -> [UInt8] {
    try translating { () throws(SystemError) in
      _ = try files.seek(descriptor, to: Int64(offset), .start)
      let size = try Int(files.status(of: descriptor).size)
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: max(1, size - offset))
      while bytes.count < size - offset {
        let count = try files.read(descriptor, into: &buffer)
        if count == 0 { break }
        bytes += buffer[..<count]
      }
      return bytes
    }
  }

  private func status() throws(KeyValueStoreError) -> FileStatus {
    try translating { () throws(SystemError) in try files.status(of: descriptor) }
  }

  private func parsing<Result>(
    _ body: () throws(ReplicaJournal.Failure) -> Result
  ) throws(KeyValueStoreError) -> Result {
    do throws(ReplicaJournal.Failure) { return try body() } catch { throw KeyValueStoreError(error, path) }
  }

  // MARK: The lock

  private mutating func withLock<Result>(
    _ body: (inout Self) throws(KeyValueStoreError) -> Result
  ) throws(KeyValueStoreError) -> Result {
    try lock(descriptor)
    // The file may be another one by then.
    defer { try? files.unlock(descriptor) }
    return try body(&self)
  }

  private static let yieldCountMax = 200
  private static let longestPause = Duration.milliseconds(5)

  /// Others hold the lock for some microseconds, but their process may be stopped meanwhile.
  private func lock(_ descriptor: FileDescriptor) throws(KeyValueStoreError) {
    var attemptCount = 0
    var pause = Duration.microseconds(50)
    let deadline = MonotonicTime.host().advanced(by: patience)
    while true {
      do throws(SystemError) {
        return try files.lock(descriptor)
      } catch {
        guard error.number == .resourceTemporarilyUnavailable else { throw KeyValueStoreError(error) }
      }
      attemptCount += 1
      if attemptCount < Self.yieldCountMax {
        HostThread.yield()
      } else if MonotonicTime.host() > deadline {
        throw KeyValueStoreError(
          .busy,
          "another process has locked '\(path)' for \(patience). See /proc/locks for its number; it may be stopped.")
      } else {
        _ = ThreadEvent().wait(until: MonotonicTime.host().advanced(by: pause))
        pause = min(pause * 2, Self.longestPause)
      }
    }
  }
}

/// Runs calls of the system; their errors become those of the store.
func translating<Result>(_ body: () throws(SystemError) -> Result) throws(KeyValueStoreError) -> Result {
  do throws(SystemError) { return try body() } catch { throw KeyValueStoreError(error) }
}
