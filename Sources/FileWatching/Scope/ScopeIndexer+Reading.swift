internal import SystemInterface

extension ScopeIndexer {
  /// Reads some directories of those that are to be read, with the help of other threads if there are several.
  ///
  /// When it returns, nothing is being read.
  ///
  /// - Parameters:
  ///   - directoryCountMax: How many directories at most.
  ///   - memberCountMax: After how many files in them no further directory is begun.
  /// - Returns: Whether all of them are read.
  @discardableResult
  package func work(directoryCountMax: Int = .max, memberCountMax: Int = .max) -> Bool {
    var directoryCount = 0
    let memberCount = readMemberCount
    let team = ReadingTeam(reader, helperCount: queue.count >= Self.helpedDirectoryCountMin ? helperCount : 0)
    defer {
      team.end()
      watchShare.trim(to: watches.count)
    }
    while true {
      let isEnough = readMemberCount - memberCount >= memberCountMax
      if isEnough {
        for order in team.takeBackOrders() { takeBack(order) }
      } else if directoryCount < directoryCountMax {
        var orders: [ReadOrder] = []
        while directoryCount < directoryCountMax, let directory = queue.pop() {
          guard let order = order(directory) else {
            refilled.remove(directory)
            continue
          }
          orders.append(order)
          directoryCount += 1
        }
        // The last one is taken first.
        if !orders.isEmpty { team.order(orders.reversed()) }
      }
      switch team.next() {
      case .take(let readings): for reading in readings { take(reading) }
      case .read(let order): take(reader.read(order))
      case .done:
        if queue.isEmpty || directoryCount >= directoryCountMax || isEnough { return queue.isEmpty }
      }
    }
  }

  /// Reads some directories once more of whose members only kinds are known, until statx(2) has been asked of everything.
  ///
  /// - Parameters:
  ///   - directoryCountMax: How many directories at most.
  ///   - memberCountMax: After how many files in them no further directory is begun.
  package func refill(directoryCountMax: Int, memberCountMax: Int) {
    let readsFacts = readsFacts
    self.readsFacts = true
    defer { self.readsFacts = readsFacts }
    var count = 0
    while count < directoryCountMax, let directory = refills.pop() {
      queue.push(directory)
      refilled.insert(directory)
      count += 1
    }
    // What isn't read now is read as anything else.
    work(directoryCountMax: directoryCountMax, memberCountMax: memberCountMax)
  }

  /// Whether statx(2) hasn't been asked of everything that's known.
  package var hasRefills: Bool { !refills.isEmpty || !refilled.isEmpty }

  var reader: DirectoryReader { DirectoryReader(files: files, watcher: watcher) }

  /// What is to be done to read a directory; `nil` if there's none.
  private func order(_ directory: FileNumber) -> ReadOrder? {
    guard index.table.contains(directory), !index.table.isUnread(directory),
      index.table.facts(of: directory).kind == .directory, index.table.isEntered(directory, unentered)
    else { return nil }
    let facts = index.table.facts(of: directory)
    let parent = index.table.parent(of: directory)
    let boundary = options.includesMountedVolumes ? nil : parent.map { index.table.facts(of: $0).identity.device }
    return ReadOrder(
      directory: directory, path: index.table.path(of: directory), inode: facts.identity.inode,
      device: index.table.hasVolume(directory) ? facts.identity.device : nil, boundary: boundary,
      watching: orderWatch(directory) ? .wanted : .unwanted, depth: readsFacts ? .statuses : .kinds,
      kept: readsFacts ? nil : kept[directory])
  }

  private func takeBack(_ order: ReadOrder) {
    if order.watching == .wanted { orderedWatchCount -= 1 }
    queue.push(order.directory)
  }

  // MARK: What has been read

  private func take(_ reading: DirectoryReading) {
    let directory = reading.directory
    refilled.remove(directory)
    kept[directory] = nil
    readCount += 1
    if reading.watching == .wanted { orderedWatchCount -= 1 }
    guard index.table.contains(directory) else { return drop(reading) }
    switch reading.outcome {
    case .failed(let error): fail(directory, error)
    case .displaced: misplace(directory)
    case .excluded(let facts):
      unreadable.remove(directory)
      misplaced[directory] = nil
      note(directory, facts)
    case .unaltered(let facts, let watch):
      unalteredCount += 1
      unreadable.remove(directory)
      misplaced[directory] = nil
      takeWatch(.success(watch), directory)
      note(directory, facts)
      refills.push(directory)
    case .read(let contents):
      unreadable.remove(directory)
      misplaced[directory] = nil
      if let watch = contents.watch { takeWatch(watch, directory) }
      note(directory, contents.facts)
      do throws(SystemError) {
        try takeMembers(contents, directory)
      } catch {
        fail(directory, error)
      }
    }
  }

  /// The directory is gone meanwhile.
  private func drop(_ reading: DirectoryReading) {
    var watch: WatchID?
    switch reading.outcome {
    case .read(let contents):
      if let rest = contents.rest { try? files.close(rest) }
      if case .success(let made)? = contents.watch { watch = made }
    case .unaltered(_, let made): watch = made
    case .failed, .displaced, .excluded: break
    }
    if let watch, watches[watch] == nil { watcher.unwatch(watch) }
  }

  private func fail(_ directory: FileNumber, _ error: SystemError) {
    if error.isDisplacement { return misplace(directory) }
    // Without permission, without a free descriptor, or broken.
    unreadable.insert(directory)
    for child in index.table.children(of: directory) { remove(child) }
  }

  /// Something else is where the directory was: what happened to it will be told, or seen when its name is looked at.
  private func misplace(_ directory: FileNumber) {
    misplaced[directory, default: 0] += 1
    lookAt(directory)
  }

  private func takeMembers(
    _ contents: DirectoryReading.Contents, _ directory: FileNumber
  ) throws(SystemError) {
    defer { if let rest = contents.rest { try? files.close(rest) } }
    var missing = Set(index.table.children(of: directory))
    for (number, listing) in contents.listings.enumerated() {
      // What is read at once has no name twice.
      if number == 0, missing.isEmpty {
        takeNewMembers(listing, contents, directory)
      } else {
        takeMembers(listing, contents, directory, &missing)
      }
    }
    if let error = contents.error { throw error }
    if let rest = contents.rest {
      while let listing = try files.list(rest, readsFacts ? .statuses : .kinds) {
        takeMembers(listing, contents, directory, &missing)
      }
    }
    for child in missing where index.table.contains(child) { lookAt(child) }
    if readsFacts { refills.remove(directory) } else { refills.push(directory) }
  }

  /// Takes the members of a directory of which nothing is known.
  private func takeNewMembers(
    _ listing: DirectoryListing, _ contents: DirectoryReading.Contents, _ directory: FileNumber
  ) {
    readMemberCount += listing.members.count
    let remarkable = index.insert(
      listing, in: directory, device: contents.facts.identity.device, readAt: contents.moment, &changes.files)
    for (number, facts) in remarkable.files { remark(number, facts) }
    for error in remarkable.errors where !error.isDisplacement { unreadable.insert(directory) }
    if remarkable.isFull { isFull = true }
  }

  private func takeMembers(
    _ listing: DirectoryListing, _ contents: DirectoryReading.Contents, _ directory: FileNumber,
    _ missing: inout Set<FileNumber>
  ) {
    readMemberCount += listing.members.count
    for member in listing.members {
      if let child = take(member, listing, contents, directory), !missing.isEmpty { missing.remove(child) }
    }
  }

  /// - Returns: The number of what the name stands for, if it stands for anything.
  private func take(
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
      // More may be known of it.
      if !facts.isRead, let known, index.table.mayBecome(known, facts) {
        if facts.kind == .symbolicLink { noteLink(known) }
        return known
      }
      return sight(known, name, directory, facts)
    }
  }
}

// MARK: - Watching

extension ScopeIndexer {
  /// Whether to watch a directory that's to be read, which counts as watched from then on.
  private func orderWatch(_ directory: FileNumber) -> Bool {
    if watches.isSure(directory) { return false }
    if watches[directory] == nil, watches.count + orderedWatchCount >= options.watchCountMax {
      poll(directory, because: "as many directories are watched as may be")
      return false
    }
    if watches[directory] == nil, !watchShare.reserve(beyond: watches.count + orderedWatchCount) {
      poll(directory, because: "this process watches as many directories as it may")
      return false
    }
    orderedWatchCount += 1
    return true
  }

  private func takeWatch(_ result: Result<WatchID, SystemError>, _ directory: FileNumber) {
    switch result {
    case .success(let watch):
      if watch != watches[directory] {
        if let other = watches[watch], index.table.contains(other) { return double(directory, other) }
        // A watch that was known and isn't this one has ended.
        _ = watches.remove(directory)
      }
      watches.add(watch, directory)
      polled.remove(directory)
      doubles.remove(directory)
    case .failure(let error): poll(directory, because: error.description)
    }
  }

  /// Two places seem to be one directory: it has been moved, or it's mounted twice.
  private func double(_ directory: FileNumber, _ other: FileNumber) {
    if doubles.insert(directory).inserted {
      lookAt(other)
      misplaced[directory] = 1
    } else {
      doubles.remove(directory)
      poll(directory, because: "a directory is mounted in two places")
    }
  }

  private func poll(_ directory: FileNumber, because reason: String) {
    if polled.isEmpty { pollingReason = reason }
    polled.insert(directory)
  }
}
