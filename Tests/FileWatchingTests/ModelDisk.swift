import FileWatching
import Glibc
import SystemInterface

/// Files in memory, and a kernel's reports of them: a value.
struct ModelDisk: Hashable {
  struct Node: Hashable {
    let kind: FileKind
    var children: [String: Int] = [:]
    var changeTime: Int64
    var size: Int64 = 0
    var nameCount: UInt64 = 1
  }

  struct Watch: Hashable {
    let id: WatchID
    var interest: WatchInterest
    /// It counts only when the directory is closed.
    var isLate = false
  }

  /// The deliberate faults.
  enum Fault: Hashable, CaseIterable {
    /// A directory is watched when it has been read.
    case watchesLate
    /// There are no reports of creations, or of the first or second half of a rename, or of the loss of events.
    case losesCreations
    case losesDepartures
    case losesArrivals
    case losesOverflows
    /// Writes aren't reported.
    case losesChanges
  }

  static let root = 1
  static let top = 2

  var nodes: [Int: Node] = [:]
  var lastNode = 2
  var clock: Int64 = 10
  var watches: [Int: Watch] = [:]
  var lastWatch: Int32 = 0
  var watchCountMax = 100
  var queue: [WatchEvent] = []
  var queueCountMax = 100
  var lastCookie: UInt32 = 0
  /// Events that are reported only after the events before them have been taken.
  var late: [WatchEvent] = []
  /// Open directories.
  var places: [Int32: Int] = [:]
  var readPlaces: Set<Int32> = []
  var fault: Fault?
  /// Files that have had several names.
  var linked: Set<Int> = []

  init() {
    nodes[Self.root] = Node(kind: .directory, children: ["r": Self.top], changeTime: 1)
    nodes[Self.top] = Node(kind: .directory, changeTime: 1)
  }
}

// MARK: - Actions of programs

extension ModelDisk {
  /// A name in a directory.
  struct Name: Hashable, CustomStringConvertible {
    let directory: Int
    let name: String
    var description: String { "\(directory)/\(name)" }
  }

  enum Operation: Hashable {
    case create(Name, FileKind)
    case write(Name)
    case remove(Name)
    case rename(Name, Name)
    /// The second half is reported later.
    case tear(Name, Name)
    case exchange(Name, Name)
    case link(Name, Name)
  }

  subscript(name: Name) -> Int? { nodes[name.directory]?.children[name.name] }

  /// The directories of the scope, the top first.
  var directories: [Int] {
    var found = [Self.top]
    var index = 0
    while index < found.count {
      let children = nodes[found[index]]?.children ?? [:]
      found += children.sorted { $0.key < $1.key }.map(\.value).filter { nodes[$0]?.kind == .directory }
      index += 1
    }
    return found
  }

  /// Whether a directory is in another one, or is that.
  func isInside(_ directory: Int, _ other: Int) -> Bool {
    directory == other
      || (nodes[other]?.children.values.contains { nodes[$0]?.kind == .directory && isInside(directory, $0) } ?? false)
  }

  mutating func perform(_ operation: Operation) {
    clock += 2
    switch operation {
    case .create(let name, let kind):
      lastNode += 1
      nodes[lastNode] = Node(kind: kind, changeTime: clock)
      put(lastNode, name)
      if fault != .losesCreations { tell(name, .created, lastNode) }
    case .write(let name):
      guard let node = self[name] else { return }
      nodes[node]?.size += 1
      nodes[node]?.changeTime = clock
      if fault != .losesChanges { tell(name, .changed, node) }
    case .remove(let name):
      guard let node = take(name) else { return }
      tell(name, .removed, node)
      loseName(node)
    case .rename(let old, let new): rename(old, new, isTorn: false)
    case .tear(let old, let new): rename(old, new, isTorn: true)
    case .exchange(let one, let other):
      guard let first = take(one), let second = take(other) else { return }
      put(first, other)
      put(second, one)
      tellMove(first, one, other, isTorn: false)
      tellMove(second, other, one, isTorn: false)
    case .link(let old, let new):
      guard let node = self[old] else { return }
      linked.insert(node)
      nodes[node]?.nameCount += 1
      nodes[node]?.changeTime = clock
      put(node, new)
      tell(new, .created, node)
    }
  }

  private mutating func rename(_ old: Name, _ new: Name, isTorn: Bool) {
    let victim = self[new]
    guard let node = take(old) else { return }
    _ = take(new)
    nodes[node]?.changeTime = clock
    put(node, new)
    tellMove(node, old, new, isTorn: isTorn)
    if let victim { loseName(victim) }
  }

  private mutating func take(_ name: Name) -> Int? {
    nodes[name.directory]?.changeTime = clock
    return nodes[name.directory]?.children.removeValue(forKey: name.name)
  }

  private mutating func put(_ node: Int, _ name: Name) {
    nodes[name.directory]?.changeTime = clock
    nodes[name.directory]?.children[name.name] = node
  }

  private mutating func loseName(_ node: Int) {
    nodes[node]?.nameCount -= 1
    nodes[node]?.changeTime = clock
    if nodes[node]?.nameCount == 0 { dropIfUnused(node) }
  }

  /// A file without a name is gone when nobody has it open.
  private mutating func dropIfUnused(_ node: Int) {
    if places.values.contains(node) { return }
    nodes[node] = nil
    if let watch = watches.removeValue(forKey: node) { add(.ended(watch.id)) }
  }
}

// MARK: - Reports of the kernel

extension ModelDisk {
  private func watch(_ node: Int, _ interest: WatchInterest) -> WatchID? {
    guard let watch = watches[node], !watch.isLate, !watch.interest.isDisjoint(with: interest) else { return nil }
    return watch.id
  }

  private func event(_ name: Name, _ action: WatchEvent.Action, _ node: Int) -> WatchEvent? {
    watch(name.directory, action == .changed ? .contents : .names).map {
      .name($0, SystemPath(name.name), action, isDirectory: nodes[node]?.kind == .directory)
    }
  }

  private mutating func tell(_ name: Name, _ action: WatchEvent.Action, _ node: Int) {
    if let event = event(name, action, node) { add(event) }
  }

  private mutating func tellMove(_ node: Int, _ old: Name, _ new: Name, isTorn: Bool) {
    lastCookie += 1
    let cookie = RenameCookie(lastCookie)
    if fault != .losesDepartures { tell(old, .departed(cookie), node) }
    var rest: [WatchEvent] = []
    if fault != .losesArrivals, let event = event(new, .arrived(cookie), node) { rest.append(event) }
    if let own = watch(node, .itself) { rest.append(.itemMoved(own)) }
    if isTorn { late += rest } else { for event in rest { add(event) } }
  }

  private mutating func add(_ event: WatchEvent) {
    if !late.isEmpty {
      late.append(event)
    } else if queue.count < queueCountMax {
      queue.append(event)
    } else if queue.last != .overflow, fault != .losesOverflows {
      queue.append(.overflow)
    }
  }

  mutating func takeEvents() -> [WatchEvent] {
    let taken = queue
    queue = []
    let rest = late
    late = []
    for event in rest { add(event) }
    return taken
  }

  mutating func watch(_ node: Int, _ interest: WatchInterest, isLate: Bool) -> WatchID? {
    if let known = watches[node] {
      watches[node]?.interest.formUnion(interest)
      return known.id
    }
    if watches.count >= watchCountMax { return nil }
    lastWatch += 1
    watches[node] = Watch(id: WatchID(lastWatch), interest: interest, isLate: isLate)
    return WatchID(lastWatch)
  }

  mutating func unwatch(_ id: WatchID) {
    guard let node = watches.first(where: { $0.value.id == id })?.key else { return }
    watches[node] = nil
    add(.ended(id))
  }
}

// MARK: - Answers of the system

extension ModelDisk {
  func node(at path: SystemPath, from start: Int) -> Result<Int, ModelError> {
    var current = start
    for part in path.description.split(separator: "/") where part != "." {
      guard let node = nodes[current], node.kind == .directory else { return .failure(.notDirectory) }
      guard let next = node.children[String(part)] else { return .failure(.missing) }
      current = next
    }
    return .success(current)
  }

  mutating func open(_ node: Int) -> Int32 {
    let number = (100...).first { places[$0] == nil } ?? 100
    places[number] = node
    return number
  }

  mutating func close(_ number: Int32) {
    readPlaces.remove(number)
    guard let node = places.removeValue(forKey: number) else { return }
    watches[node]?.isLate = false
    if nodes[node]?.nameCount == 0 { dropIfUnused(node) }
  }

  func status(of node: Int) -> FileStatus? {
    nodes[node].map {
      FileStatus(
        kind: $0.kind, mode: 0o755, owner: 0, group: 0, size: $0.size, allocatedSize: 0,
        modificationTime: $0.changeTime,
        changeTime: $0.changeTime, identity: FileIdentity(device: 1, inode: UInt64(node)), linkCount: $0.nameCount)
    }
  }

  /// Everything in the scope.
  var contents: [SystemPath: FileStatus] {
    var found: [SystemPath: FileStatus] = [:]
    func add(_ node: Int, _ path: SystemPath) {
      found[path] = status(of: node)
      for (name, child) in nodes[node]?.children ?? [:] { add(child, path.appending(name)) }
    }
    if let top = self[Name(directory: Self.root, name: "r")] { add(top, SystemPath("/r")) }
    return found
  }
}

enum ModelError: Error {
  case missing
  case notDirectory

  func error(_ path: SystemPath) -> SystemError {
    SystemError(call: "model", paths: [path], errno: self == .missing ? ENOENT : ENOTDIR)
  }
}
