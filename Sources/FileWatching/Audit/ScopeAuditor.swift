package import SystemInterface

/// Compares an index with a fresh walk through the file system.
///
/// The walk shares only the call that lists a directory with the code that keeps the index current. It goes on while
/// files change: a path that differs is checked once more, before and after the index is current, and counts if the
/// file system gave the same answer both times, and still gives it a moment later.
package struct ScopeAuditor: Sendable {
  private let files: any FileSystem
  private let options: ScopeOptions
  private let clock: any CoordinationClock
  private let unentered: NamePatterns

  /// How often differing paths are checked again while they go on changing.
  private static let roundCountMax = 8
  /// For how long a call that alters a file is expected to go on after others see its effect.
  ///
  /// The kernel reports it when it ends. A program that writes much is held up within write(2) until some of it is on
  /// the disk, for 200 ms each time, after the size of the file is another one.
  static let callDurationMax = Duration.seconds(1)

  package init(_ files: any FileSystem, options: ScopeOptions, clock: any CoordinationClock) {
    self.files = files
    self.options = options
    self.clock = clock
    unentered = NamePatterns(options.unenteredNames)
  }

  /// Audits an index.
  ///
  /// - Parameter current: Gives the index when it contains everything that was done before the call; `nil` when the
  ///   index isn't kept any more.
  /// - Returns: The audit; `nil` when the index isn't kept any more, or the task was cancelled.
  package func audit(_ current: () async -> FileTable?) async -> ScopeAudit? {
    guard let table = await current() else { return nil }
    let walk = await Self.onThread { self.walk(table) }
    guard var findings = await findings(at: walk.suspects, current) else { return nil }
    if !findings.differences.isEmpty {
      await pause()
      guard let later = await self.findings(at: Set(findings.differences.map(\.path)), current) else { return nil }
      findings.confirm(with: later)
    }
    return ScopeAudit(
      fileCount: walk.fileCount, differences: findings.differences.sorted { $0.path < $1.path },
      unsettledCount: findings.unsettled.count)
  }

  /// Checks paths until the file system gives the same answer before and after the index is current.
  private func findings(at paths: Set<SystemPath>, _ current: () async -> FileTable?) async -> Findings? {
    var findings = Findings(unsettled: paths)
    for _ in 0..<Self.roundCountMax where !findings.unsettled.isEmpty {
      if Task.isCancelled { return nil }
      let asked = findings.unsettled
      let before = await Self.onThread { self.look(at: asked) }
      guard let table = await current() else { return nil }
      let (settled, unsettled) = await Self.onThread { self.compare(before, table) }
      findings.differences.formUnion(settled)
      findings.unsettled = unsettled
    }
    return findings
  }

  /// Waits for the end of calls whose effect the file system shows already.
  private func pause() async {
    let end = Barrier()
    let alarm = clock.schedule(at: clock.now.advanced(by: Self.callDurationMax)) { end.end() }
    await withTaskCancellationHandler {
      await end.wait()
    } onCancel: {
      end.end()
    }
    alarm.cancel()
  }

  /// Runs blocking work on a thread of its own.
  private static func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      let code = HostThread.tryStart(name: "file-audit") { continuation.resume(returning: body()) }
      if code != 0 { continuation.resume(returning: body()) }
    }
  }
}

extension ScopeAuditor {
  /// The results for several paths.
  private struct Findings {
    var differences: Set<ScopeAudit.Difference> = []
    /// Paths that go on changing.
    var unsettled: Set<SystemPath>

    /// Paths that differ otherwise by now go on changing; paths that don't differ any more were reported late.
    mutating func confirm(with later: Findings) {
      unsettled.formUnion(later.unsettled)
      unsettled.formUnion(later.differences.subtracting(differences).map(\.path))
      differences.formIntersection(later.differences)
    }
  }
}

// MARK: - Walking

extension ScopeAuditor {
  private struct Walk: Sendable {
    var fileCount = 0
    /// Paths of which the index seems to say something else.
    var suspects: Set<SystemPath> = []
  }

  private func walk(_ table: FileTable) -> Walk {
    var walk = Walk()
    for root in table.roots {
      walk.fileCount += 1
      let path = table.path(of: root)
      let found = try? status(of: path)
      if !agrees(table.facts(of: root), found) { walk.suspects.insert(path) }
      table.forEach(in: root) { number in
        guard table.facts(of: number).kind == .directory, !table.isUnread(number), table.isEntered(number, unentered)
        else { return }
        walkMembers(of: number, table, &walk)
      }
    }
    return walk
  }

  /// Compares the members of a directory; the directory itself is one of those of its parent.
  private func walkMembers(of directory: FileNumber, _ table: FileTable, _ walk: inout Walk) {
    let path = table.path(of: directory)
    do throws(SystemError) {
      let descriptor = try files.openDirectory(path)
      defer { try? files.close(descriptor) }
      let facts = FileFacts(try files.status(of: SystemPath("."), at: descriptor, links: .noFollow))
      guard table.isDirectory(directory, facts) else {
        walk.suspects.insert(path)
        return
      }
      if isBeyondBoundary(directory, facts, table) { return }
      var known = table.members(of: directory)
      while let listing = try files.list(descriptor, .statuses) {
        walk.fileCount += listing.members.count
        for member in listing.members where member.errorNumber == 0 {
          let name = listing.name(of: member)
          let number = known.removeValue(forKey: name)
          let found = listing.status(of: member).map { FileFacts($0) }
          if !agrees(number.map { table.facts(of: $0) }, found) { walk.suspects.insert(path.appending(name)) }
        }
      }
      for name in known.keys { walk.suspects.insert(path.appending(name)) }
    } catch {
      // Directories that can't be read aren't in the index either, which its health shows.
      if error.isDisplacement { walk.suspects.insert(path) }
    }
  }

  private func isBeyondBoundary(_ directory: FileNumber, _ facts: FileFacts, _ table: FileTable) -> Bool {
    guard !options.includesMountedVolumes, let parent = table.parent(of: directory) else { return false }
    return table.facts(of: parent).identity.device != facts.identity.device
  }

  private func agrees(_ indexed: FileFacts?, _ found: FileFacts?) -> Bool {
    switch (indexed, found) {
    case (nil, nil): true
    case (let indexed?, let found?): ScopeAudit.Difference.Value.differences(indexed, found).isEmpty
    default: false
    }
  }
}

// MARK: - Checking again

extension ScopeAuditor {
  /// The file at each path; `nil` for none.
  private func look(at paths: Set<SystemPath>) -> [SystemPath: FileFacts?] {
    var found: [SystemPath: FileFacts?] = [:]
    for path in paths {
      do throws(SystemError) {
        found.updateValue(try status(of: path), forKey: path)
      } catch {
        // A path that can't be inspected is neither right nor wrong.
        if error.isDisplacement { found.updateValue(nil, forKey: path) }
      }
    }
    return found
  }

  /// The file at a path on which there's no symbolic link.
  private func status(of path: SystemPath) throws(SystemError) -> FileFacts {
    if path == .root { return FileFacts(try files.status(of: path, at: .workingDirectory, links: .noFollow)) }
    let directory = try files.openDirectory(path.parent, flags: .pathOnly)
    defer { try? files.close(directory) }
    return FileFacts(try files.status(of: path.lastComponent, at: directory, links: .noFollow))
  }

  /// Compares paths with an index that was made current after they were inspected.
  ///
  /// - Returns: The differences, and the paths that have changed since.
  private func compare(
    _ before: [SystemPath: FileFacts?], _ table: FileTable
  ) -> (settled: [ScopeAudit.Difference], unsettled: Set<SystemPath>) {
    let after = look(at: Set(before.keys))
    let indexed = table.facts(at: Set(before.keys))
    var settled: [ScopeAudit.Difference] = []
    var unsettled: Set<SystemPath> = []
    for (path, found) in after {
      if agrees(indexed[path], found) { continue }
      if before[path] != .some(found) {
        unsettled.insert(path)
        continue
      }
      let fault: ScopeAudit.Difference.Fault
      switch (indexed[path], found) {
      case (let indexed?, let found?): fault = .outdated(ScopeAudit.Difference.Value.differences(indexed, found))
      case (nil, _): fault = .missing
      case (_, nil): fault = .surplus
      }
      settled.append(ScopeAudit.Difference(path: path, fault: fault))
    }
    return (settled, unsettled)
  }
}

extension FileTable {
  /// The members of a directory by name.
  ///
  /// - Complexity: O(*n*).
  func members(of directory: FileNumber) -> [SystemPath: FileNumber] {
    var members: [SystemPath: FileNumber] = [:]
    for child in children(of: directory) { members[name(of: child)] = child }
    return members
  }

  /// The recorded facts of the files at some paths.
  ///
  /// - Complexity: O(*n*) in the number of files in the directories on the way.
  func facts(at paths: Set<SystemPath>) -> [SystemPath: FileFacts] {
    let tops = Dictionary(rootPaths.map { ($0.value, $0.key) }) { first, _ in first }
    var known: [SystemPath: [SystemPath: FileNumber]] = [:]
    func number(at path: SystemPath) -> FileNumber? {
      if let top = tops[path] { return top }
      if path == .root { return nil }
      let directory = path.parent
      if known[directory] == nil { known[directory] = number(at: directory).map { members(of: $0) } ?? [:] }
      return known[directory]?[path.lastComponent]
    }
    var found: [SystemPath: FileFacts] = [:]
    for path in paths { found[path] = number(at: path).map { facts(of: $0) } }
    return found
  }
}
