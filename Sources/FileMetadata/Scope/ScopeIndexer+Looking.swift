internal import SystemInterface

extension ScopeIndexer {
  /// Looks at all names that something has happened to.
  ///
  /// - Returns: The directories that weren't where they should be; their names are to be looked at again.
  func look() -> [FileNumber: Set<SystemPath>] {
    let due = looks
    looks = [:]
    var failed: [FileNumber: Set<SystemPath>] = [:]
    for (directory, names) in due where index.table.contains(directory) {
      if !look(at: names, in: directory) { failed[directory] = names }
    }
    return failed
  }

  private func look(at names: Set<SystemPath>, in directory: FileNumber) -> Bool {
    do throws(SystemError) {
      let descriptor = try files.openDirectory(index.table.path(of: directory), flags: .pathOnly)
      defer { try? files.close(descriptor) }
      // Its own times have changed with its members.
      let facts = FileFacts(try files.status(of: SystemPath("."), at: descriptor, links: .noFollow))
      guard index.table.isDirectory(directory, facts) else { return false }
      note(directory, facts)
      for name in names { _ = look(name, in: directory, descriptor) }
      return true
    } catch {
      if error.isDisplacement { return false }
      // Reading it will say what's wrong.
      queue.push(directory)
      return true
    }
  }

  /// Makes the index say what a name in an open directory stands for.
  ///
  /// - Returns: Its number, if anything is there.
  func look(_ name: SystemPath, in directory: FileNumber, _ descriptor: FileDescriptor) -> FileNumber? {
    let known = index.child(named: name, of: directory)
    let facts: FileFacts
    do throws(SystemError) {
      facts = FileFacts(try files.status(of: name, at: descriptor, links: .noFollow))
    } catch {
      // In a directory that can't be searched, or something is broken, perhaps not for long.
      if !error.isDisplacement { unreadable.insert(directory) }
      if let known { remove(known) }
      return nil
    }
    if let known {
      if index.table.mayBecome(known, facts) {
        note(known, facts)
        return known
      }
      remove(known)
    }
    return insert(name, in: directory, facts)
  }

  private func insert(_ name: SystemPath, in directory: FileNumber, _ facts: FileFacts) -> FileNumber? {
    guard let number = index.insert(name, in: directory, facts) else {
      isFull = true
      return nil
    }
    changes.files.insert(number)
    if facts.kind == .directory { queue.push(number) }
    if facts.isLinked { noteLinks(of: number, facts) }
    return number
  }
}
