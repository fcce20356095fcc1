package import FileWatching
package import SystemInterface
package import Testing

/// A tree, its index, and a list that's kept current only by the changes that the indexer reports.
package final class IndexedTree {
  package let tree: TemporaryTree
  package let watcher: ManualFileWatcher
  package let indexer: ScopeIndexer
  private var followed: [FileNumber: (path: SystemPath, facts: FileFacts)] = [:]

  package init(
    _ tree: TemporaryTree, files: any FileSystem = HostFileSystem(), options: ScopeOptions = ScopeOptions(),
    watchCountMax: Int = .max, helperCount: Int = 0, readsFacts: Bool = true, isSettled: Bool = true
  ) throws {
    self.tree = tree
    watcher = ManualFileWatcher(try InotifyWatcher())
    watcher.allowWatches(watchCountMax)
    indexer = ScopeIndexer(files, watcher: watcher, options: options, helperCount: helperCount)
    indexer.readsFacts = readsFacts
    indexer.addRoot(tree.root)
    if isSettled { settle() }
  }

  /// Takes in everything that was done before.
  package func settle() {
    var rounds = 0
    var hasWork: Bool
    repeat {
      indexer.processEvents()
      if indexer.isBehind { indexer.readAgain() }
      hasWork = indexer.hasWork
      indexer.work()
      rounds += 1
    } while hasWork && rounds < 100
    #expect(rounds < 100)
    follow()
    // Changes after a first search are always compared.
    indexer.readsFacts = true
    guard indexer.hasRefills else { return }
    indexer.refill(directoryCountMax: .max, memberCountMax: .max)
    settle()
  }

  /// Records the changes that the indexer reports.
  package func follow() {
    let changes = indexer.takeChanges()
    var numbers = changes.files
    for directory in changes.movedDirectories where indexer.index.table.contains(directory) {
      indexer.index.table.forEach(in: directory) { numbers.insert($0) }
    }
    let table = indexer.index.table
    if changes.hasNewFacts { for (number, file) in followed where !file.facts.isRead { numbers.insert(number) } }
    for number in numbers {
      followed[number] = table.contains(number) ? (table.path(of: number), table.facts(of: number)) : nil
    }
    indexer.recycleNumbers()
  }

  /// The contents of the index.
  package var contents: [SystemPath: FileFacts] {
    let table = indexer.index.table
    var found: [SystemPath: FileFacts] = [:]
    for root in table.roots { table.forEach(in: root) { found[table.path(of: $0)] = table.facts(of: $0) } }
    return found
  }

  /// Expects that the index and the list of its reports agree with the disk.
  ///
  /// - Parameters:
  ///   - comment: The subject of the test.
  ///   - linkedInodes: Files whose number of names may be unknown.
  ///   - obscureInodes: Files that may have been altered through names that nobody has seen.
  ///   - sourceLocation: The place of the call.
  package func expectCurrent(
    _ comment: Comment? = nil, linkedInodes: Set<UInt64> = [], obscureInodes: Set<UInt64> = [],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    func known(_ facts: FileFacts) -> FileFacts {
      var facts = facts
      if linkedInodes.contains(facts.identity.inode) {
        facts.changeTime = 0
        facts.isLinked = false
      }
      if obscureInodes.contains(facts.identity.inode) {
        facts.mode = UInt16(truncatingIfNeeded: facts.kind.modeBits)
        facts.size = 0
        facts.modificationTime = 0
      }
      return facts
    }
    let expected = tree.contents.mapValues(known)
    let found = contents.mapValues(known)
    let differences = Set(expected.keys).union(found.keys).filter { expected[$0] != found[$0] }.sorted()
    let details = differences.prefix(3).map { path in
      "\(path): \(found[path].map { "\($0)" } ?? "nothing") instead of \(expected[path].map { "\($0)" } ?? "nothing")"
    }
    #expect(differences.isEmpty, "\(comment?.rawValue ?? ""): \(details)", sourceLocation: sourceLocation)
    #expect(indexer.index.violations == [], comment, sourceLocation: sourceLocation)
    let followedContents = Dictionary(followed.values.map { ($0.path, known($0.facts)) }) { first, _ in first }
    #expect(followed.count == found.count, comment, sourceLocation: sourceLocation)
    #expect(followedContents == found, comment, sourceLocation: sourceLocation)
  }

  /// The same beside a churner, from time to time without anything that may be unknown; then a pause is over.
  package func expectCurrent(
    _ comment: Comment? = nil, beside churner: inout Churner, touchesLinkedFiles: Bool,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    expectCurrent(
      comment, linkedInodes: churner.linkedInodes, obscureInodes: churner.obscureInodes, sourceLocation: sourceLocation)
    if touchesLinkedFiles {
      churner.touchLinkedFiles()
      settle()
      if indexer.needsPolling {
        indexer.poll()
        settle()
      }
      expectCurrent(comment, sourceLocation: sourceLocation)
    }
    churner.settle()
  }

  package func number(_ name: String) -> FileNumber? {
    let table = indexer.index.table
    var number = table.roots.first
    for component in name.split(separator: "/") {
      number = number.flatMap { indexer.index.child(named: SystemPath(String(component)), of: $0) }
    }
    return number
  }
}
