package import FileWatching
import Glibc
package import SystemInterface

/// Files in memory, and what a kernel tells of them: a value.
package struct ModelDisk: Hashable {
  package struct Node: Hashable {
    package let kind: FileKind
    package var children: [String: Int] = [:]
    package var changeTime: Int64
    package var size: Int64 = 0
    package var nameCount: UInt64 = 1
    /// Where a symbolic link leads.
    package var target: String?

    package init(kind: FileKind, children: [String: Int] = [:], changeTime: Int64) {
      self.kind = kind
      self.children = children
      self.changeTime = changeTime
    }
  }

  package struct Watch: Hashable {
    package let id: WatchID
    package var interest: WatchInterest
    /// It counts only when the directory is closed.
    package var isLate = false
  }

  /// A deliberate mistake.
  package enum Fault: Hashable, CaseIterable {
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

  package static let root = 1
  package static let top = 2

  package var nodes: [Int: Node] = [:]
  package var lastNode = 2
  package var clock: Int64 = 10
  package var watches: [Int: Watch] = [:]
  package var lastWatch: Int32 = 0
  package var watchCountMax = 100
  package var queue: [WatchEvent] = []
  package var queueCountMax = 100
  package var lastCookie: UInt32 = 0
  /// Events that are reported only after the events before them were taken.
  package var late: [WatchEvent] = []
  /// Open directories.
  package var places: [Int32: Int] = [:]
  package var readPlaces: Set<Int32> = []
  package var fault: Fault?
  /// Files that have had several names.
  package var linked: Set<Int> = []

  package init() {
    nodes[Self.root] = Node(kind: .directory, children: ["r": Self.top], changeTime: 1)
    nodes[Self.top] = Node(kind: .directory, changeTime: 1)
  }
}

// MARK: - Actions of programs

extension ModelDisk {
  /// A name in a directory.
  package struct Name: Hashable, CustomStringConvertible {
    package let directory: Int
    package let name: String

    package init(directory: Int, name: String) {
      self.directory = directory
      self.name = name
    }

    package var description: String { "\(directory)/\(name)" }
  }

  package enum Operation: Hashable {
    case create(Name, FileKind)
    /// Other contents or attributes.
    case write(Name)
    case remove(Name)
    case rename(Name, Name)
    /// The second half is reported later.
    case tear(Name, Name)
    case exchange(Name, Name)
    case link(Name, Name)
    /// A symbolic link takes a name, also that of another one in one step.
    case point(Name, to: String)
  }

  package subscript(name: Name) -> Int? { nodes[name.directory]?.children[name.name] }

  /// The directories of the scope, the top first.
  package var directories: [Int] {
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
  package func isInside(_ directory: Int, _ other: Int) -> Bool {
    directory == other
      || (nodes[other]?.children.values.contains { nodes[$0]?.kind == .directory && isInside(directory, $0) } ?? false)
  }

  package mutating func perform(_ operation: Operation) {
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
      if fault == .losesChanges { return }
      tell(name, .changed, node)
      tellItself(node)
    case .remove(let name):
      guard let node = take(name) else { return }
      tellLostName(node)
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
      tellItself(node)
      tell(new, .created, node)
    case .point(let name, let target): point(name, to: target)
    }
  }

  private mutating func point(_ name: Name, to target: String) {
    lastNode += 1
    nodes[lastNode] = Node(kind: .symbolicLink, changeTime: clock)
    nodes[lastNode]?.target = target
    guard let former = take(name) else {
      put(lastNode, name)
      return tell(name, .created, lastNode)
    }
    // Renamed from elsewhere over the former link.
    put(lastNode, name)
    lastCookie += 1
    tell(name, .arrived(RenameCookie(lastCookie)), lastNode)
    loseName(former)
  }

  private mutating func rename(_ old: Name, _ new: Name, isTorn: Bool) {
    let victim = self[new]
    guard let node = take(old) else { return }
    _ = take(new)
    nodes[node]?.changeTime = clock
    put(node, new)
    tellMove(node, old, new, isTorn: isTorn, over: victim)
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

  /// Contents or attributes of a node have changed, of which its own watch tells.
  private mutating func tellItself(_ node: Int) {
    if let own = watch(node, .contents) { add(.itemChanged(own)) }
  }

  /// The number of names is one of the attributes of a file; of a directory nobody tells that it has lost its only name.
  private mutating func tellLostName(_ node: Int) { if nodes[node]?.kind != .directory { tellItself(node) } }

  private mutating func tellMove(_ node: Int, _ old: Name, _ new: Name, isTorn: Bool, over victim: Int? = nil) {
    lastCookie += 1
    let cookie = RenameCookie(lastCookie)
    if fault != .losesDepartures { tell(old, .departed(cookie), node) }
    var rest: [WatchEvent] = []
    if fault != .losesArrivals, let event = event(new, .arrived(cookie), node) { rest.append(event) }
    if let victim, nodes[victim]?.kind != .directory, let own = watch(victim, .contents) {
      rest.append(.itemChanged(own))
    }
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

  package mutating func takeEvents() -> [WatchEvent] {
    let taken = queue
    queue = []
    let rest = late
    late = []
    for event in rest { add(event) }
    return taken
  }

  package mutating func watch(_ node: Int, _ interest: WatchInterest, isLate: Bool) -> WatchID? {
    if let known = watches[node] {
      watches[node]?.interest.formUnion(interest)
      return known.id
    }
    if watches.count >= watchCountMax { return nil }
    lastWatch += 1
    watches[node] = Watch(id: WatchID(lastWatch), interest: interest, isLate: isLate)
    return WatchID(lastWatch)
  }

  package mutating func unwatch(_ id: WatchID) {
    guard let node = watches.first(where: { $0.value.id == id })?.key else { return }
    watches[node] = nil
    add(.ended(id))
  }
}

// MARK: - Answers of the system

extension ModelDisk {
  /// The file at a path, whose last component isn't followed.
  package func node(
    at path: SystemPath, from start: Int, followsLinks: Bool = true
  ) -> Result<Int, ModelError> {
    var current = start
    var rest = Self.components(path.description)
    var linkCount = 0
    while let part = rest.popLast() {
      guard let node = nodes[current], node.kind == .directory else { return .failure(.notDirectory) }
      guard let next = node.children[part] else { return .failure(.missing) }
      guard let target = nodes[next]?.target, !rest.isEmpty else {
        current = next
        continue
      }
      linkCount += 1
      if !followsLinks || linkCount > 40 { return .failure(.link) }
      current = Self.root
      rest += Self.components(target)
    }
    return .success(current)
  }

  /// The names of a path, the first one at the end.
  private static func components(_ path: String) -> [String] {
    path.split(separator: "/").filter { $0 != "." }.reversed().map(String.init)
  }

  package mutating func open(_ node: Int) -> Int32 {
    let number = (100...).first { places[$0] == nil } ?? 100
    places[number] = node
    return number
  }

  package mutating func close(_ number: Int32) {
    readPlaces.remove(number)
    guard let node = places.removeValue(forKey: number) else { return }
    watches[node]?.isLate = false
    if nodes[node]?.nameCount == 0 { dropIfUnused(node) }
  }

  package func status(of node: Int) -> FileStatus? {
    nodes[node].map {
      FileStatus(
        kind: $0.kind, mode: 0o755, owner: 0, group: 0, size: $0.size, allocatedSize: 0,
        modificationTime: $0.changeTime,
        changeTime: $0.changeTime, identity: FileIdentity(device: 1, inode: UInt64(node)), linkCount: $0.nameCount)
    }
  }

  /// The first path of a node; absent if it has no name any more.
  package func path(of node: Int) -> SystemPath? {
    func search(_ directory: Int, _ path: SystemPath) -> SystemPath? {
      if directory == node { return path }
      for (name, child) in (nodes[directory]?.children ?? [:]).sorted(by: { $0.key < $1.key }) {
        if let found = search(child, path.appending(SystemPath(name))) { return found }
      }
      return nil
    }
    return search(Self.root, .root)
  }

  /// Everything in the scope.
  package var contents: [SystemPath: FileStatus] {
    var found: [SystemPath: FileStatus] = [:]
    func add(_ node: Int, _ path: SystemPath) {
      found[path] = status(of: node)
      for (name, child) in nodes[node]?.children ?? [:] { add(child, path.appending(name)) }
    }
    if let top = self[Name(directory: Self.root, name: "r")] { add(top, SystemPath("/r")) }
    return found
  }
}

package enum ModelError: Error {
  case missing
  case notDirectory
  /// A symbolic link is on the way.
  case link

  package func error(_ path: SystemPath) -> SystemError {
    let number =
      switch self {
      case .missing: ENOENT
      case .notDirectory: ENOTDIR
      case .link: ELOOP
      }
    return SystemError(call: "model", paths: [path], errno: number)
  }
}
