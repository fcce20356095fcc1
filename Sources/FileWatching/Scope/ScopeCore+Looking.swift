internal import SystemInterface

extension ScopeCore {
  /// The order to check names in a directory.
  func lookOrder(_ directory: FileNumber, _ names: [SystemPath: Bool]) -> LookOrder {
    let facts = index.table.facts(of: directory)
    return LookOrder(
      directory: directory, path: index.table.path(of: directory), inode: facts.identity.inode,
      device: index.table.hasVolume(directory) ? facts.identity.device : nil, names: names)
  }

  /// Takes the files that names in a directory stand for.
  ///
  /// - Parameters:
  ///   - order: The order.
  ///   - outcome: Its outcome.
  ///   - isQuiet: Whether the kernel has no further events, so that a file that's gone without an event is gone.
  ///     Otherwise it may have been renamed, which the kernel has yet to report: it's checked again then, so that it
  ///     keeps its number.
  /// - Returns: Whether the directory was where it should be; if not, its names are to be checked again.
  mutating func take(_ order: LookOrder, _ outcome: LookOrder.Outcome, isQuiet: Bool) -> Bool {
    switch outcome {
    case .displaced: return false
    case .failed(let error):
      if error.isDisplacement { return false }
      // Reading it will report the error.
      queue.push(order.directory)
    case .found(let facts, let names):
      // Its own times have changed with its members.
      note(order.directory, facts)
      for (name, found) in names {
        let known = index.child(named: name, of: order.directory)
        switch found {
        case .success(let facts): _ = sight(known, name.bytes.span, order.directory, facts)
        case .failure(let error):
          let mayBeRemoved = order.names[name] == true || isQuiet
          lose(known, name.bytes.span, order.directory, error, mayBeRemoved: mayBeRemoved)
        }
      }
    }
    return true
  }

  /// Nothing is seen under a name.
  ///
  /// A known file that can't be inspected for lack of memory or because of a broken disk may be there nevertheless: it isn't reported as
  /// removed.
  mutating func lose(
    _ known: FileNumber?, _ name: Span<UInt8>, _ directory: FileNumber, _ error: SystemError, mayBeRemoved: Bool
  ) {
    // In a directory that can't be searched, or something is broken, perhaps not for long.
    if !error.isDisplacement { takeUnreadable(directory, error, at: SystemPath(bytes: name)) }
    guard let known, error.isDisplacement || error.isRefusal else { return }
    mayBeRemoved ? remove(known) : looks.add(SystemPath(bytes: name), in: directory)
  }

  /// Something is seen under a name.
  mutating func sight(
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

  private mutating func insert(_ name: Span<UInt8>, in directory: FileNumber, _ facts: FileFacts) -> FileNumber? {
    guard let number = index.insert(name, in: directory, facts) else {
      isFull = true
      return nil
    }
    changes.files.insert(number)
    changes.recounted.insert(directory)
    if facts.isRemarkable { remark(number, facts) }
    return number
  }

  /// The consequences of a new file.
  private mutating func remark(_ number: FileNumber, _ facts: FileFacts) {
    remarkKind(number, facts)
    if facts.isLinked { noteLinks(of: [number], facts) }
  }

  private mutating func remarkKind(_ number: FileNumber, _ facts: FileFacts) {
    if facts.kind == .directory { queue.push(number) }
    if facts.kind == .symbolicLink { noteLink(number) }
  }

  /// The consequences of new files that were inspected one after the other: the last one has the present facts of all names of a file.
  mutating func remark(_ files: [(FileNumber, FileFacts)]) {
    var links: [FileIdentity: (numbers: Set<FileNumber>, facts: FileFacts)] = [:]
    for (number, facts) in files {
      remarkKind(number, facts)
      if !facts.isLinked { continue }
      links[facts.identity, default: ([], facts)].numbers.insert(number)
      links[facts.identity]?.facts = facts
    }
    for (numbers, facts) in links.values { noteLinks(of: numbers, facts) }
  }
}
