package import SystemInterface

/// The files of a scope, by number and by name.
///
/// Renaming a directory touches nothing below it: a file has its directory and its name, and its path is put together
/// when it's asked for.
///
/// A value without threads and files; ``table`` is the part that readers copy.
package struct FileIndex: Sendable {
  /// The record of each file.
  package private(set) var table = FileTable()
  private(set) var childTable = ChildTable()
  private var recentNames = RecentNames()
  /// The names of files with several hard links.
  private(set) var linked: [FileIdentity: Set<FileNumber>] = [:]
  /// Numbers that can be used again.
  private(set) var free: [FileNumber] = []
  /// Numbers that were given up, and when.
  private(set) var limbo: [(moment: Int, number: FileNumber)] = []
  private var deadNameByteCount = 0
  /// Counts the numbers that are given up, see ``recycle(before:)``.
  package private(set) var moment = 0
  /// How many files there are.
  package private(set) var count = 0
  /// How often facts were compared with recorded ones.
  package private(set) var updateCount = 0

  package init() {
    // Number 0 stands for no file.
    _ = table.grow()
  }

  /// The member of a directory that has a name.
  ///
  /// - Complexity: O(1).
  package func child(named name: SystemPath, of directory: FileNumber) -> FileNumber? {
    child(named: name.bytes.span, of: directory)
  }

  func child(named name: Span<UInt8>, of directory: FileNumber) -> FileNumber? {
    childTable.child(name, NameHash(name), of: directory, table)
  }

  /// How many bytes names take, also those of files that are gone.
  package var nameByteCount: Int { table.names.byteCount }

  /// How many bytes the index takes, without the overhead of the allocator and without hard links and owners.
  package var byteCount: Int { table.byteCount + childTable.byteCount + recentNames.byteCount }

  /// All known names of a file that has several.
  package func files(with identity: FileIdentity) -> Set<FileNumber> { linked[identity] ?? [] }
}

extension FileIndex {
  /// Adds the top of a scope, by its absolute path.
  ///
  /// - Returns: `nil` when the index is full: at four thousand million files.
  package mutating func addRoot(
    _ path: SystemPath, _ facts: FileFacts, reach: RootReach = .contents
  ) -> FileNumber? {
    guard let number = unusedNumber() else { return nil }
    table.rootPaths[number] = path
    if reach != .contents { table.rootReaches[number] = reach }
    set(facts, of: number)
    count += 1
    return number
  }

  /// Adds a file that isn't in the index to a directory that is.
  ///
  /// - Returns: `nil` when the index is full: at four thousand million files, or four gigabytes of names.
  /// - Complexity: O(1).
  package mutating func insert(
    _ name: SystemPath, in directory: FileNumber, _ facts: FileFacts
  ) -> FileNumber? {
    insert(name.bytes.span, in: directory, facts)
  }

  mutating func insert(_ name: Span<UInt8>, in directory: FileNumber, _ facts: FileFacts) -> FileNumber? {
    guard let number = unusedNumber() else { return nil }
    let hash = NameHash(name)
    guard let place = recentNames.place(of: name, hash, in: &table.names) else {
      free.append(number)
      return nil
    }
    table[number].name = place
    set(facts, of: number)
    attach(number, to: directory, hash)
    count += 1
    return number
  }

  /// Takes note of other facts.
  ///
  /// - Returns: Whether they are other ones.
  /// - Complexity: O(1).
  @discardableResult
  package mutating func update(_ number: FileNumber, _ facts: FileFacts) -> Bool {
    updateCount += 1
    var row = table[number]
    row.set(facts, volume: volume(of: facts))
    if row == table[number] { return false }
    unlink(number)
    set(facts, of: number)
    return true
  }

  /// Gives a file another directory and name; the name must be free.
  ///
  /// - Returns: `false` when there's no room for the name.
  /// - Complexity: O(1), however large the directory that is moved.
  package mutating func move(_ number: FileNumber, to directory: FileNumber, as name: SystemPath) -> Bool {
    let hash = NameHash(name.bytes.span)
    guard let place = recentNames.place(of: name.bytes.span, hash, in: &table.names) else { return false }
    detach(number)
    deadNameByteCount += table.names.count(at: table[number].name) + 1
    table[number].name = place
    attach(number, to: directory, hash)
    compactNamesIfNeeded()
    return true
  }

  /// Gives two files, neither of which is in the other one, each the directory and the name of the other.
  ///
  /// - Complexity: O(1), however large they are.
  package mutating func exchange(_ first: FileNumber, _ second: FileNumber) {
    let (directory, otherDirectory) = (table[first].parent, table[second].parent)
    let (name, otherName) = (table[first].name, table[second].name)
    detach(first)
    detach(second)
    (table[first].name, table[second].name) = (otherName, name)
    attach(first, to: otherDirectory, table.names.withName(at: otherName) { NameHash($0) })
    attach(second, to: directory, table.names.withName(at: name) { NameHash($0) })
  }

  /// Takes out a file and everything below it.
  ///
  /// - Returns: The numbers that don't stand for a file any more, that of the file first.
  /// - Complexity: O(*n*) in the number of files taken out.
  package mutating func remove(_ top: FileNumber) -> [FileNumber] {
    var numbers: [FileNumber] = []
    table.forEach(in: top) { numbers.append($0) }
    moment += 1
    if table.rootPaths[top] == nil { detach(top) }
    for number in numbers.reversed() {
      unlink(number)
      if number != top { childTable.remove(number, table) }
      table.rootReaches[number] = nil
      if table.rootPaths.removeValue(forKey: number) == nil {
        deadNameByteCount += table.names.count(at: table[number].name) + 1
      }
    }
    for number in numbers {
      table[number] = FileRow()
      limbo.append((moment, number))
    }
    count -= numbers.count
    compactNamesIfNeeded()
    return numbers
  }

  /// Makes numbers usable again that were given up at or before a moment.
  ///
  /// Comparing two states of the index needs them to stand for one file in both.
  package mutating func recycle(before moment: Int) {
    var end = 0
    while end < limbo.count, limbo[end].moment <= moment {
      free.append(limbo[end].number)
      end += 1
    }
    limbo.removeFirst(end)
  }

  /// Makes numbers usable again of files that former states don't have: a comparison with a later state doesn't miss
  /// them.
  ///
  /// - Parameter tables: The former states, and the only ones that are still compared.
  /// - Complexity: O(*n*) in the number of numbers that were given up, for each state.
  package mutating func recycle(notIn tables: [FileTable]) {
    let isFree = { (number: FileNumber) in !tables.contains { $0.contains(number) } }
    free += limbo.lazy.map(\.number).filter(isFree)
    limbo.removeAll { isFree($0.number) }
  }

  /// How many numbers were given up and can't be used again yet.
  package var limboCount: Int { limbo.count }
}

extension FileIndex {
  private mutating func unusedNumber() -> FileNumber? { free.popLast() ?? table.grow() }

  private mutating func volume(of facts: FileFacts) -> UInt16 {
    table.volumes.place(
      of: VolumeTable.Volume(device: facts.identity.device, owner: facts.owner, group: facts.group))
  }

  private mutating func set(_ facts: FileFacts, of number: FileNumber) {
    let volume = volume(of: facts)
    table[number].set(facts, volume: volume)
    if facts.isLinked { linked[facts.identity, default: []].insert(number) }
  }

  private mutating func unlink(_ number: FileNumber) {
    guard table[number].isLinked else { return }
    let identity = table.facts(of: number).identity
    linked[identity]?.remove(number)
    if linked[identity]?.isEmpty == true { linked[identity] = nil }
  }

  private mutating func attach(_ number: FileNumber, to directory: FileNumber, _ hash: NameHash) {
    let first = table[directory].firstChild
    table[number].place(in: directory, before: first, count: UInt32(table.childCount(of: directory) + 1))
    if first != .none { table[first].previous = number }
    table[directory].firstChild = number
    childTable.insert(number, hash, in: directory)
  }

  private mutating func detach(_ number: FileNumber) {
    childTable.remove(number, table)
    let row = table[number]
    let count = UInt32(table.childCount(of: row.parent))
    if table[row.parent].firstChild == number {
      table[row.parent].firstChild = row.next
    } else {
      table[row.previous].next = row.next
      if row.next != .none { table[row.next].previous = row.previous }
    }
    let first = table[row.parent].firstChild
    if first != .none { table[first].previous = FileNumber(count - 1) }
  }

  /// Writes names anew when about half of them are of files that are gone.
  ///
  /// Costs O(*n*) after O(*n*) removals. A name of several files is counted once for each file that is gone, so that
  /// this may come early, but no more often.
  private mutating func compactNamesIfNeeded() {
    guard deadNameByteCount > 1 << 16, deadNameByteCount > table.names.byteCount / 2 else { return }
    deadNameByteCount = 0
    var names = NameStore()
    var recent = RecentNames()
    var places: [UInt32] = []
    for number in table.numbers {
      let isNamed = table[number].isUsed && table.rootPaths[number] == nil
      let name = isNamed ? Array(table.names[table[number].name]) : []
      guard let place = recent.place(of: name.span, NameHash(name.span), in: &names) else { return }
      places.append(place)
    }
    for (number, place) in zip(table.numbers, places) { table[number].name = place }
    table.names = names
    recentNames = recent
  }
}
