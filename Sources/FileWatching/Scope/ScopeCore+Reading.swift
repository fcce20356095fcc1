internal import SystemInterface

extension ScopeCore {
  /// The next step of reading directories; `nil` if there's nothing to read.
  mutating func nextRead() -> ReadStep? {
    while let directory = queue.pop() {
      guard isReadable(directory) else {
        refilled.remove(directory)
        restored.remove(directory)
        continue
      }
      guard let watching = orderWatch(directory) else {
        queue.push(directory)
        return .reserveWatch(beyond: watches.count + orderedWatchCount)
      }
      return .read(order(directory, watching))
    }
    return nil
  }

  /// How many directories may be watched now.
  mutating func grantWatches(_ count: Int) {
    isGrantRefused = count <= watches.count + orderedWatchCount
    grantedWatchCount = count
  }

  /// Makes some directories be read once more of whose members only kinds are known.
  mutating func beginRefill(directoryCountMax: Int) {
    var count = 0
    while count < directoryCountMax, let directory = refills.pop() {
      queue.push(directory)
      refilled.insert(directory)
      count += 1
    }
  }

  /// Whether statx(2) hasn't been called for everything in the index.
  var hasRefills: Bool { !refills.isEmpty || !refilled.isEmpty || !restored.isEmpty }

  private func isReadable(_ directory: FileNumber) -> Bool {
    index.table.contains(directory) && !index.table.isUnread(directory)
      && index.table.facts(of: directory).kind == .directory && index.table.isEntered(directory, unentered)
  }

  private func order(_ directory: FileNumber, _ watching: ReadOrder.Watching) -> ReadOrder {
    let facts = index.table.facts(of: directory)
    let parent = index.table.parent(of: directory)
    let boundary = options.includesMountedVolumes ? nil : parent.map { index.table.facts(of: $0).identity.device }
    return ReadOrder(
      directory: directory, path: index.table.path(of: directory), inode: facts.identity.inode,
      device: index.table.hasVolume(directory) ? facts.identity.device : nil, boundary: boundary,
      watching: watching, depth: readsFacts ? .statuses : .kinds, kept: readsFacts ? nil : kept[directory])
  }

  mutating func takeBack(_ order: ReadOrder) {
    if order.watching == .wanted { orderedWatchCount -= 1 }
    queue.push(order.directory)
  }

  // MARK: Results of reading

  /// Takes the result of reading a directory, or the first part of it.
  ///
  /// - Returns: The reading to go on with, if that was the first part; see ``take(_:_:)`` and ``end(_:_:)``.
  mutating func take(_ reading: DirectoryReading) -> UnfinishedReading? {
    let directory = reading.directory
    refilled.remove(directory)
    kept[directory] = nil
    restored.remove(directory)
    readCount += 1
    if reading.watching == .wanted { orderedWatchCount -= 1 }
    guard index.table.contains(directory) else {
      drop(reading)
      return nil
    }
    switch reading.outcome {
    case .failed(let error): fail(directory, error)
    case .displaced: misplace(directory)
    case .excluded(let facts):
      unreadable[directory] = nil
      misplaced[directory] = nil
      note(directory, facts)
    case .unaltered(let facts, let watch):
      unalteredCount += 1
      unreadable[directory] = nil
      misplaced[directory] = nil
      takeWatch(.success(watch), directory)
      note(directory, facts)
      refills.push(directory)
    case .read(let contents):
      unreadable[directory] = nil
      misplaced[directory] = nil
      if let watch = contents.watch { takeWatch(watch, directory) }
      note(directory, contents.facts)
      return takeMembers(contents, directory)
    }
    return nil
  }

  /// The directory is gone meanwhile.
  private mutating func drop(_ reading: DirectoryReading) {
    var watch: WatchID?
    switch reading.outcome {
    case .read(let contents):
      if case .success(let made)? = contents.watch { watch = made }
    case .unaltered(_, let made): watch = made
    case .failed, .displaced, .excluded: break
    }
    if let watch, watches[watch] == nil { agenda.append(.unwatch(watch)) }
  }

  private mutating func fail(_ directory: FileNumber, _ error: SystemError) {
    if error.isDisplacement { return misplace(directory) }
    takeUnreadable(directory, error)
    // Without a free descriptor, or broken: its files may be there nevertheless, and aren't reported as removed.
    guard error.isRefusal else { return }
    for child in index.table.children(of: directory) { remove(child) }
  }

  /// A directory can't be read, or something in it can't be inspected.
  mutating func takeUnreadable(_ directory: FileNumber, _ error: SystemError, at name: SystemPath? = nil) {
    var error = error
    let path = index.table.path(of: directory)
    error.paths = [name.map { path.appending($0) } ?? path]
    unreadable[directory] = error
  }

  /// Another file is where the directory was: events will report its fate, or a check of its name will show it.
  private mutating func misplace(_ directory: FileNumber) {
    misplaced[directory, default: 0] += 1
    lookAt(directory)
  }

  private mutating func takeMembers(
    _ contents: DirectoryReading.Contents, _ directory: FileNumber
  ) -> UnfinishedReading? {
    var reading = UnfinishedReading(
      directory: directory, contents: contents, missing: Set(index.table.children(of: directory)))
    for (number, listing) in contents.listings.enumerated() {
      // A directory that is read at once has no name twice.
      if number == 0, reading.missing.isEmpty {
        takeNewMembers(listing, contents, directory)
      } else {
        take(listing, &reading)
      }
    }
    reading.contents.listings = []
    if contents.hasMore { return reading }
    end(reading, contents.error)
    return nil
  }

  /// Takes a further part of a directory.
  mutating func take(_ listing: DirectoryListing, _ reading: inout UnfinishedReading) {
    readMemberCount += listing.members.count
    for member in listing.members {
      if let child = take(member, listing, reading.contents, reading.directory), !reading.missing.isEmpty {
        reading.missing.remove(child)
      }
    }
  }

  /// A directory has been read to its end, or as far as it could be.
  mutating func end(_ reading: UnfinishedReading, _ error: SystemError?) {
    if let error { return fail(reading.directory, error) }
    for child in reading.missing where index.table.contains(child) { lookAt(child) }
    if readsFacts { refills.remove(reading.directory) } else { refills.push(reading.directory) }
  }

  /// Takes the members of a directory that has none in the index.
  private mutating func takeNewMembers(
    _ listing: DirectoryListing, _ contents: DirectoryReading.Contents, _ directory: FileNumber
  ) {
    readMemberCount += listing.members.count
    let remarkable = index.insert(
      listing, in: directory, device: contents.facts.identity.device, readAt: contents.moment, &changes.files)
    changes.recounted.insert(directory)
    remark(remarkable.files)
    for error in remarkable.errors where !error.isDisplacement { takeUnreadable(directory, error) }
    if remarkable.isFull { isFull = true }
  }

  /// - Returns: The number of the file that the name stands for, if there's one.
  private mutating func take(
    _ member: DirectoryListing.Member, _ listing: DirectoryListing, _ contents: DirectoryReading.Contents,
    _ directory: FileNumber
  ) -> FileNumber? {
    listing.withName(of: member) { name in
      let known = index.child(named: name, of: directory)
      if member.errorNumber != 0 {
        lose(known, name, directory, SystemError(.status, errno: member.errorNumber), mayBeRemoved: false)
        return nil
      }
      let facts = FileFacts(listing, member, device: contents.facts.identity.device, readAt: contents.moment)
      // The index may have more facts of it.
      if !facts.isRead, let known, index.table.mayBecome(known, facts) {
        if facts.kind == .symbolicLink { noteLink(known) }
        return known
      }
      return sight(known, name, directory, facts)
    }
  }
}

// MARK: - Watching

extension ScopeCore {
  /// Whether to watch a directory that's to be read, which counts as watched from then on; `nil` if it has to be asked for whether more may be.
  private mutating func orderWatch(_ directory: FileNumber) -> ReadOrder.Watching? {
    if watches.isSure(directory) { return .unwanted }
    if watches[directory] == nil, watches.count + orderedWatchCount >= options.watchCountMax {
      poll(directory, because: "as many directories are watched as may be")
      return .unwanted
    }
    if watches[directory] == nil, watches.count + orderedWatchCount >= grantedWatchCount {
      if !isGrantRefused { return nil }
      isGrantRefused = false
      poll(directory, because: "this process watches as many directories as it may")
      return .unwanted
    }
    orderedWatchCount += 1
    return .wanted
  }

  private mutating func takeWatch(_ result: Result<WatchID, SystemError>, _ directory: FileNumber) {
    switch result {
    case .success(let watch):
      if watch != watches[directory] {
        if let other = watches[watch], index.table.contains(other) { return double(directory, other) }
        // A former watch that isn't this one has ended.
        _ = watches.remove(directory)
      }
      watches.add(watch, directory)
      polled.remove(directory)
      doubles.remove(directory)
    case .failure(var error):
      // The watcher's one leads through a descriptor.
      error.paths = [index.table.path(of: directory)]
      poll(directory, because: error.advisingAboutWatches.description)
    }
  }

  /// Two places seem to be one directory: it has been moved, or it's mounted twice.
  private mutating func double(_ directory: FileNumber, _ other: FileNumber) {
    if doubles.insert(directory).inserted {
      lookAt(other)
      misplaced[directory] = 1
    } else {
      doubles.remove(directory)
      poll(directory, because: "a directory is mounted in two places")
    }
  }

  private mutating func poll(_ directory: FileNumber, because reason: String) {
    if polled.isEmpty { pollingReason = reason }
    polled.insert(directory)
  }
}
