internal import SystemInterface

extension ScopeIndexer {
  /// Looks at all names that something has happened to.
  ///
  /// - Parameter isQuiet: Whether the kernel has nothing else to tell, so that what's gone without a word is gone.
  /// - Returns: The directories that weren't where they should be; their names are to be looked at again.
  func look(isQuiet: Bool) -> [FileNumber: [SystemPath: Bool]] {
    var failed: [FileNumber: [SystemPath: Bool]] = [:]
    for (directory, names) in looks.take() where index.table.contains(directory) {
      if !look(at: names, in: directory, isQuiet: isQuiet) { failed[directory] = names }
    }
    return failed
  }

  private func look(at names: [SystemPath: Bool], in directory: FileNumber, isQuiet: Bool) -> Bool {
    do throws(SystemError) {
      let descriptor = try files.openDirectory(index.table.path(of: directory), flags: .pathOnly)
      defer { try? files.close(descriptor) }
      // Its own times have changed with its members.
      let facts = try reader.facts(of: descriptor)
      guard index.table.isDirectory(directory, facts) else { return false }
      note(directory, facts)
      for (name, isGone) in names { _ = look(name, in: directory, descriptor, mayBeRemoved: isGone || isQuiet) }
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
  /// - Parameters:
  ///   - name: The name.
  ///   - directory: The number of the directory.
  ///   - descriptor: Its descriptor.
  ///   - mayBeRemoved: Whether what isn't there is gone. Otherwise it may have been renamed, of which the kernel has yet to tell: it's
  ///     looked at again then, so that it keeps its number.
  /// - Returns: Its number, if anything is there.
  func look(
    _ name: SystemPath, in directory: FileNumber, _ descriptor: FileDescriptor, mayBeRemoved: Bool
  ) -> FileNumber? {
    let known = index.child(named: name, of: directory)
    do throws(SystemError) {
      let facts = FileFacts(try files.status(of: name, at: descriptor, links: .noFollow))
      return sight(known, name.bytes.span, directory, facts)
    } catch {
      lose(known, name.bytes.span, directory, error, mayBeRemoved: mayBeRemoved)
      return nil
    }
  }

  /// Nothing is seen under a name.
  func lose(
    _ known: FileNumber?, _ name: Span<UInt8>, _ directory: FileNumber, _ error: SystemError, mayBeRemoved: Bool
  ) {
    // In a directory that can't be searched, or something is broken, perhaps not for long.
    if !error.isDisplacement { unreadable.insert(directory) }
    if let known { mayBeRemoved ? remove(known) : looks.add(SystemPath(bytes: name), in: directory) }
  }

  /// Something is seen under a name.
  func sight(
    _ known: FileNumber?, _ name: Span<UInt8>, _ directory: FileNumber, _ facts: FileFacts
  ) -> FileNumber? {
    if let known {
      if index.table.mayBecome(known, facts) {
        note(known, facts)
        return known
      }
      remove(known)
    }
    return insert(name, in: directory, facts)
  }

  private func insert(_ name: Span<UInt8>, in directory: FileNumber, _ facts: FileFacts) -> FileNumber? {
    guard let number = index.insert(name, in: directory, facts) else {
      isFull = true
      return nil
    }
    changes.files.insert(number)
    if facts.isRemarkable { remark(number, facts) }
    return number
  }

  /// What follows from something new.
  func remark(_ number: FileNumber, _ facts: FileFacts) {
    if facts.kind == .directory { queue.push(number) }
    if facts.kind == .symbolicLink { noteLink(number) }
    if facts.isLinked { noteLinks(of: number, facts) }
  }
}
