package import SystemInterface

/// Keeps versions of files and packages in a directory of its own; see ``StoreLayout`` for what is where.
///
/// A value without state, but for a cache of formats that were read: all of it is on the disk, and any number of processes may use one store. Two operations on one item, or
/// on what is around it, must not run at the same time: the caller sees to that. A crash at any call leaves the state before an
/// operation or the one after it, and in ``StoreLayout/steps`` what ``recover()`` needs to clear up.
///
/// All methods block for the disk.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `known` | its own lock | any thread may use a store |
package struct VersionStore: Sendable {
  let layout: StoreLayout
  package let files: any FileSystem
  /// In nanoseconds since 1970.
  let time: @Sendable () -> Int64
  /// Names the process, without a dot: the names of its operations end with this.
  let worker: String
  let limits: VersionStoreLimits
  /// Called when a version is there that ``performTasks()`` has to hash.
  let hashingIsDue: (@Sendable () -> Void)?
  /// Called with the item of a version that ``unfold(of:countMax:)`` has to give a directory some time.
  let unfoldingIsDue: (@Sendable (ItemID) -> Void)?
  /// Called with a resolution that another process had begun, and its item and file, when it's complete.
  let resolutionIsCompleted: (@Sendable (ConflictResolution, ItemID, SystemPath) -> Void)?
  /// Whether the process with a name may still be at work; `nil` if nobody can tell.
  let isAlive: @Sendable (_ worker: String) -> Bool?

  /// The directory of the store.
  package var root: SystemPath { layout.root }

  private static let format = "swift-file-coordination, store of versions, format 1\n"

  /// Uses a store, which is made if it isn't there.
  ///
  /// - Parameters:
  ///   - root: Its directory, as a canonical path. The directory around it has to exist.
  ///   - files: The door to the kernel.
  ///   - worker: Names the process, now and ever; without a dot or slash.
  ///   - limits: Sizes from which on it works otherwise.
  ///   - hashingIsDue: Called on the thread of an operation, inside of whatever its caller has locked, when a version has become the task
  ///     of this process that isn't hashed; see ``performTasks()``.
  ///   - unfoldingIsDue: Called on the thread of a save with the item of which a version is kept without a directory.
  ///   - resolutionIsCompleted: Called on the thread of an operation, inside of whatever its caller has locked, with a resolution that a
  ///     crash has cut off, and that's complete now; with the item, and the path of its file.
  ///   - isAlive: Whether the process with a name may still be at work: its operations aren't completed then. `nil` if nobody can tell, as for
  ///     one of another container: they are completed when they are ``unknownWorkerAgeMax`` old.
  ///   - time: The time of day in nanoseconds since 1970.
  /// - Throws: ``VersionStoreError/unknownFormat(_:_:)`` for a store of a later release, or the error of a system call.
  package init(
    at root: SystemPath, files: any FileSystem = HostFileSystem(), worker: String,
    limits: VersionStoreLimits = VersionStoreLimits(), hashingIsDue: (@Sendable () -> Void)? = nil,
    unfoldingIsDue: (@Sendable (ItemID) -> Void)? = nil,
    resolutionIsCompleted: (@Sendable (ConflictResolution, ItemID, SystemPath) -> Void)? = nil,
    isAlive: @escaping @Sendable (_ worker: String) -> Bool? = { _ in false },
    time: @escaping @Sendable () -> Int64
  ) throws(VersionStoreError) {
    layout = StoreLayout(root: root)
    self.worker = worker
    self.limits = limits
    self.hashingIsDue = hashingIsDue
    self.unfoldingIsDue = unfoldingIsDue
    self.resolutionIsCompleted = resolutionIsCompleted
    self.isAlive = isAlive
    self.files = files
    self.time = time
    if let known = Self.known.withLock({ $0[root] }), try status(of: layout.format) == known { return }
    try checkFormat()
  }

  /// How many stores a process remembers; it uses one for each volume, as a rule.
  private static let knownCountMax = 64
  /// The status that files with the format had before they were read; another format comes with another file.
  private static let known = Guarded<[SystemPath: FileStatus]>([:])

  private func checkFormat() throws(VersionStoreError) {
    let format = Array(Self.format.utf8)
    if let status = try? status(of: layout.format), (try? beginning(of: layout.format)) == format {
      Self.known.withLock { known in
        if known.count >= Self.knownCountMax { known = [:] }
        known[root] = status
      }
      return
    }
    if try status(of: layout.format) == nil { try create() }
    let text = try contents(of: layout.format)
    if text != format {
      throw .unknownFormat(root, String(decoding: text.prefix(100), as: UTF8.self))
    }
  }

  private func create() throws(VersionStoreError) {
    try ensureDirectory(layout.root)
    let directories = [layout.contents, layout.items, layout.places, layout.removed, layout.steps]
    // Those that a crash has left without their format, and the file that it's written to.
    let known = Set(directories.map(\.lastComponent))
    let isForeign = try names(in: layout.root).contains {
      !known.contains($0) && !$0.bytes.starts(with: ".".utf8) && $0 != layout.format.lastComponent
    }
    if isForeign { throw .notAStore(layout.root) }
    for directory in directories { try ensureDirectory(directory) }
    try storing { () throws(SystemError) in
      try files.replaceContents(of: layout.format, with: Array(Self.format.utf8))
    }
  }
}

extension VersionStore {
  /// Refuses a store into which others have put something, when its directory was open to them, or that's damaged.
  ///
  /// Its directories have to be what ``StoreLayout`` says, and to belong to whom the store belongs: otherwise others could read, replace
  /// and remove versions, and a process that clears up would do it in some other directory. Those that are gone are made anew.
  ///
  /// - Throws: ``VersionStoreError/misplaced(_:)``, or the error of a system call.
  /// - Complexity: O(1), six system calls.
  package func checkDirectories() throws(VersionStoreError) {
    guard let owner = try status(of: root)?.owner else { return }
    for path in [layout.contents, layout.items, layout.places, layout.removed, layout.steps] {
      guard let status = try status(of: path) else {
        // Nothing is lost without that one, for which there may be no room.
        if path == layout.removed { try? ensureDirectory(path) } else { try ensureDirectory(path) }
        continue
      }
      if status.kind != .directory || status.owner != owner { throw .misplaced(path) }
    }
  }
}

extension VersionStore {
  /// Says what is wrong with the store if a system call found a name missing, or no directory, where the store has one.
  ///
  /// - Parameter error: An error of this store.
  /// - Returns: ``VersionStoreError/misplaced(_:)`` or ``VersionStoreError/missing(_:)`` with the outermost directory that's wrong; else
  ///   the error itself.
  /// - Complexity: A system call for each directory around the names of the error.
  package func diagnosed(_ error: VersionStoreError) -> VersionStoreError {
    guard case .system(let failure) = error, failure.isAbsence || failure.number == .notADirectory else { return error }
    for path in failure.paths where path.isInside(root) {
      var around: [SystemPath] = []
      var directory = path.parent
      while directory.isInside(root) {
        around.append(directory)
        directory = directory.parent
      }
      for directory in around.reversed() {
        guard let status = try? files.statusIfPresent(of: directory) else { return .missing(directory) }
        if status.kind != .directory { return .misplaced(directory) }
      }
    }
    return error
  }
}

// MARK: - Files of the store

extension VersionStore {
  func contents(of path: SystemPath) throws(VersionStoreError) -> [UInt8] {
    try storing { () throws(SystemError) in try files.contents(of: path) }
  }

  func status(of path: SystemPath) throws(VersionStoreError) -> FileStatus? {
    try storing { () throws(SystemError) in try files.statusIfPresent(of: path) }
  }

  /// As many bytes of a file of the store as one call reads.
  private func beginning(of path: SystemPath) throws(SystemError) -> [UInt8] {
    try files.withDescriptor(path, flags: [.noFollow, .nonBlocking]) { (file) throws(SystemError) in
      var buffer = [UInt8](repeating: 0, count: Self.recordSizeUsual)
      return Array(buffer[..<(try files.read(file, into: &buffer))])
    }
  }

  /// Records of more bytes are rare, and take some more calls.
  private static let recordSizeUsual = 1 << 11

  /// Reads a record; `nil` if there's none.
  func record(at path: SystemPath) throws(VersionStoreError) -> StoreRecord? {
    do throws(SystemError) {
      // A part of one has another check: so there's no need to look how long it is.
      if let record = StoreRecord(try beginning(of: path)) { return record }
    } catch {
      if error.isAbsence { return nil }
    }
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try files.contents(of: path) } catch let error {
      if error.isAbsence { return nil }
      throw .system(error)
    }
    guard let record = StoreRecord(bytes) else { throw .damaged(path) }
    return record
  }

  /// Writes a record in the place of another one, or of none.
  func write(_ record: StoreRecord, to path: SystemPath) throws(VersionStoreError) {
    try inDirectories(around: path) { () throws(SystemError) in
      try files.replaceContents(of: path, with: record.bytes)
    }
  }

  /// Writes a record where nothing is and nobody looks yet; it's on the disk with what is around it.
  func writeDraft(_ bytes: [UInt8], to path: SystemPath) throws(VersionStoreError) {
    try storing { () throws(SystemError) in
      try files.withDescriptor(path, flags: [.create, .exclusive, .writeOnly], mode: 0o600) {
        (file) throws(SystemError) in
        try files.writeAll(bytes, to: file)
      }
    }
  }

  /// Writes a record in the place of another one, or of none, without waiting for the disk: one that a loss of power damages can be
  /// made again.
  func writeLoosely(_ record: StoreRecord, to path: SystemPath) throws(VersionStoreError) {
    let draft = step("record-" + String(UInt64.random(in: .min ... .max), radix: 16))
    do throws(VersionStoreError) {
      try writeDraft(record.bytes, to: draft)
      try inDirectories(around: path) { () throws(SystemError) in
        try files.rename(draft, at: .workingDirectory, to: path, at: .workingDirectory, .replacing)
      }
    } catch {
      try? unlink(draft)
      throw error
    }
  }

  /// How often directories are made again that another process has removed, because they were empty.
  private static let removalCountMax = 100

  /// Makes a directory that only the user may use, and those around it inside of the store.
  func ensureDirectory(_ path: SystemPath) throws(VersionStoreError) {
    try inDirectories(around: path) { () throws(SystemError) in
      do throws(SystemError) { try files.makeDirectory(path, at: .workingDirectory, mode: 0o700) } catch {
        // Another process may make it at the same time.
        if error.number != .fileExists { throw error }
      }
    }
  }

  /// Makes a name in a directory of the store, which is made if it isn't there: other processes remove empty ones.
  func inDirectories(
    around path: SystemPath, _ body: () throws(SystemError) -> Void
  ) throws(VersionStoreError) {
    for attempt in 1... {
      do throws(SystemError) { return try body() } catch {
        guard error.isAbsence, path.isInside(layout.root), attempt < Self.removalCountMax else { throw .system(error) }
      }
      try ensureDirectory(path.parent)
    }
  }

  /// Makes a directory that's on the disk when this returns, like those around it that had to be made.
  func ensureDurableDirectory(_ path: SystemPath) throws(VersionStoreError) {
    if try status(of: path) != nil { return }
    if path.parent != layout.root { try ensureDurableDirectory(path.parent) }
    try ensureDirectory(path)
    try synchronizeNames(in: path.parent)
  }

  func rename(_ source: SystemPath, to target: SystemPath) throws(VersionStoreError) {
    try storing { () throws(SystemError) in
      try files.rename(source, at: .workingDirectory, to: target, at: .workingDirectory, .exclusive)
    }
  }

  func unlink(_ path: SystemPath) throws(VersionStoreError) {
    do throws(SystemError) { try files.unlink(path, at: .workingDirectory, .file) } catch let error {
      if !error.isAbsence { throw .system(error) }
    }
  }

  /// Waits until the names in a directory are on the disk.
  func synchronizeNames(in directory: SystemPath) throws(VersionStoreError) {
    try storing { () throws(SystemError) in
      try files.withDescriptor(directory, flags: .directory) { (descriptor) throws(SystemError) in
        try files.synchronize(descriptor)
      }
    }
  }

  /// The names in a directory, in the order of their bytes; none if it isn't there.
  func names(in directory: SystemPath) throws(VersionStoreError) -> [SystemPath] {
    try unsortedNames(in: directory).sorted()
  }

  func unsortedNames(in directory: SystemPath) throws(VersionStoreError) -> [SystemPath] {
    try storing { () throws(SystemError) in try files.names(in: directory) }
  }
}
