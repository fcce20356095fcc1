internal import FileWatching
internal import SystemInterface

extension ScopeIndexer {
  /// Reads some directories of those that are to be read.
  ///
  /// - Parameter directoryCountMax: How many at most.
  /// - Returns: Whether all of them are read.
  @discardableResult
  package func work(directoryCountMax: Int = .max) -> Bool {
    var count = 0
    while count < directoryCountMax, let directory = queue.pop() {
      count += 1
      if index.table.contains(directory), !index.table.isUnread(directory) { read(directory) }
      readCount += 1
    }
    return queue.isEmpty
  }

  private func read(_ directory: FileNumber) {
    do throws(SystemError) {
      let descriptor = try files.openDirectory(index.table.path(of: directory))
      defer { try? files.close(descriptor) }
      let found = try facts(of: descriptor)
      guard index.table.isDirectory(directory, found) else { return misplace(directory) }
      unreadable.remove(directory)
      misplaced[directory] = nil
      if isExcluded(directory, found) { return note(directory, found) }
      watch(directory, descriptor)
      // Only now: what had happened before it was watched may have changed its times.
      note(directory, try facts(of: descriptor))
      try readMembers(of: directory, descriptor)
    } catch {
      if error.isDisplacement { return misplace(directory) }
      // Without permission, without a free descriptor, or broken.
      unreadable.insert(directory)
      for child in index.table.children(of: directory) { remove(child) }
    }
  }

  func facts(of directory: FileDescriptor) throws(SystemError) -> FileFacts {
    FileFacts(try files.status(of: SystemPath("."), at: directory, links: .noFollow))
  }

  /// Something else is where the directory was: what happened to it will be told, or seen when its name is looked at.
  private func misplace(_ directory: FileNumber) {
    misplaced[directory, default: 0] += 1
    lookAt(directory)
  }

  /// Whether the directory is on another volume than the one it's in, where that matters.
  private func isExcluded(_ directory: FileNumber, _ facts: FileFacts) -> Bool {
    guard !options.includesMountedVolumes, let parent = index.table.parent(of: directory) else { return false }
    return index.table.facts(of: parent).identity.device != facts.identity.device
  }

  private func readMembers(
    of directory: FileNumber, _ descriptor: FileDescriptor
  ) throws(SystemError) {
    var missing = Set(index.table.children(of: directory))
    while let entries = try files.readDirectory(descriptor) {
      for entry in entries {
        guard let child = look(entry.name, in: directory, descriptor, mayBeRemoved: false) else { continue }
        missing.remove(child)
      }
    }
    for child in missing where index.table.contains(child) { lookAt(child) }
  }
}

// MARK: - Watching

extension ScopeIndexer {
  /// Watches an open directory, by way of its descriptor: the path may lead elsewhere by now.
  private func watch(_ directory: FileNumber, _ descriptor: FileDescriptor) {
    if watches.isSure(directory) { return }
    let known = watches[directory]
    if known == nil, watches.count >= options.watchCountMax {
      return poll(directory, because: "as many directories are watched as may be")
    }
    do throws(SystemError) {
      let path = SystemPath("/proc/self/fd/\(descriptor.rawValue)/.")
      let watch = try watcher.watch(path, [.names, .contents, .itself], isDirectory: true)
      if watch != known {
        if let other = watches[watch], index.table.contains(other) { return double(directory, other) }
        // A watch that was known and isn't this one has ended.
        _ = watches.remove(directory)
      }
      watches.add(watch, directory)
      polled.remove(directory)
      doubles.remove(directory)
    } catch {
      poll(directory, because: error.description)
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
