import Glibc
import SystemInterface

/// Directories, links and files in memory, and the changes of names that a kernel reports: a value.
struct NameDisk: Hashable {
  enum Node: Hashable {
    case directory([String: Int])
    case link(String)
    case file
  }

  /// A name in a directory.
  struct Name: Hashable, CustomStringConvertible {
    let directory: Int
    let name: String

    var description: String { "\(directory)/\(name)" }
  }

  enum Operation: Hashable {
    case make(Name, Node)
    case remove(Name)
    /// Over an empty directory or a file, if one has the second name.
    case rename(Name, Name)
    /// Another link takes the place of a link in one step.
    case retarget(Name, String)
    /// Withdraws the permission to list a directory and look up names in it, or gives it back.
    case close(Int)
    /// The kernel ends the watch of a directory.
    case endWatch(Int)
    case mount
    /// The operation that is under way returns: its changes are reported.
    case finish
  }

  enum Kind: Hashable, Sendable { case make, link, remove, rename, retarget, close, endWatch, mount }

  /// A change that will be reported to those who watch by then.
  private enum Report: Hashable {
    case name(Name)
    case itself(Int)
    case gone(Int)
  }

  /// The file that a path leads to.
  struct Truth: Hashable {
    enum Kind: Hashable { case directory, missing, other }

    let canonical: String
    let kind: Kind
  }

  static let root = 1

  private(set) var nodes: [Int: Node] = [root: .directory([:])]
  private var lastNode = root
  /// Directories in which names may not be looked up.
  private(set) var closed: Set<Int> = []
  private(set) var watches: [Int: NameWatch] = [:]
  private var lastWatch: Int32 = 0
  var watchCountMax = 100
  /// A watch that doesn't count yet, by a fault.
  var lateWatch: NameWatch?
  private(set) var queue: [NameChange] = []
  var queueCountMax = 100
  private(set) var hasMountChange = false
  /// Operations return later than they take effect.
  var isTorn = false
  private var reports: [Report] = []

  /// Whether an operation has taken effect that hasn't returned.
  var isUnderWay: Bool { !reports.isEmpty }

  subscript(name: Name) -> Int? {
    if case .directory(let children)? = nodes[name.directory] { children[name.name] } else { nil }
  }
}

// MARK: - Actions of programs

extension NameDisk {
  /// Makes files: `a/` is a directory, `l>a` a link to `a`, everything else a file.
  mutating func make(_ files: [String]) {
    for file in files {
      let parts = file.split(separator: ">").map(String.init)
      let path = parts[0].split(separator: "/").map(String.init)
      var directory = Self.root
      for part in path.dropLast() { directory = self[Name(directory: directory, name: part)] ?? directory }
      let node: Node = parts.count > 1 ? .link(parts[1]) : file.hasSuffix("/") ? .directory([:]) : .file
      perform(.make(Name(directory: directory, name: path[path.count - 1]), node))
    }
  }

  mutating func perform(_ operation: Operation) {
    switch operation {
    case .make(let name, let node):
      lastNode += 1
      nodes[lastNode] = node
      put(lastNode, name)
      reports.append(.name(name))
    case .remove(let name):
      guard let node = put(nil, name) else { return }
      reports.append(.name(name))
      drop(node)
    case .rename(let old, let new):
      guard let node = put(nil, old) else { return }
      let victim = put(node, new)
      reports += [.name(old), .name(new), .itself(node)]
      if let victim { drop(victim) }
    case .retarget(let name, let target):
      lastNode += 1
      nodes[lastNode] = .link(target)
      if let former = put(lastNode, name) { nodes[former] = nil }
      reports.append(.name(name))
    case .close(let directory): if closed.remove(directory) == nil { closed.insert(directory) }
    case .endWatch(let directory): if let watch = watches.removeValue(forKey: directory) { queue(.ended(watch)) }
    case .mount: hasMountChange = true
    case .finish: break
    }
    if isTorn, operation != .finish { return }
    for report in reports { queue(report) }
    reports = []
  }

  @discardableResult
  private mutating func put(_ node: Int?, _ name: Name) -> Int? {
    guard case .directory(var children)? = nodes[name.directory] else { return nil }
    let former = children[name.name]
    children[name.name] = node
    nodes[name.directory] = .directory(children)
    return former
  }

  private mutating func drop(_ node: Int) {
    nodes[node] = nil
    closed.remove(node)
    reports.append(.gone(node))
  }

  private mutating func queue(_ report: Report) {
    switch report {
    case .name(let name):
      if let watch = watches[name.directory] { queue(.name(watch, Array(name.name.utf8))) }
    case .itself(let node): if let watch = watches[node] { queue(.directory(watch)) }
    case .gone(let node):
      guard let watch = watches.removeValue(forKey: node) else { return }
      queue(.directory(watch))
      queue(.ended(watch))
    }
  }

  private mutating func queue(_ change: NameChange) {
    switch change {
    case .name(let watch, _), .directory(let watch): if watch == lateWatch { return }
    case .ended, .everything: break
    }
    if queue.count < queueCountMax {
      queue.append(change)
    } else if queue.last != .everything {
      queue.append(.everything)
    }
  }

  /// Everything of some kinds that programs can do now, in a fixed order.
  ///
  /// - Parameters:
  ///   - kinds: The kinds.
  ///   - names: The names that are given.
  ///   - isDeep: Whether they're given in each directory, and not only in the root.
  /// - Returns: The operations.
  func operations(_ kinds: [Kind], names: [String], isDeep: Bool) -> [Operation] {
    if isUnderWay { return [] }
    let directories = nodes.keys.sorted().filter { if case .directory? = nodes[$0] { true } else { false } }
    let changed = isDeep ? directories : [Self.root]
    let places = changed.flatMap { directory in names.map { Name(directory: directory, name: $0) } }
    let taken = places.filter { self[$0] != nil }
    let free = places.filter { self[$0] == nil }
    return kinds.flatMap { kind -> [Operation] in
      switch kind {
      case .make: free.flatMap { [.make($0, .directory([:])), .make($0, .file)] }
      case .link: free.map { .make($0, .link("/" + names[0])) }
      case .remove: taken.filter(isEmpty).map { .remove($0) }
      case .rename: taken.flatMap { old in places.filter { mayBeRenamed(old, $0) }.map { .rename(old, $0) } }
      case .retarget:
        links.flatMap { link in names.map { "/" + $0 }.filter { $0 != target(of: link) }.map { .retarget(link, $0) } }
      case .close: directories.filter { $0 != Self.root }.map { .close($0) }
      case .endWatch: directories.filter { watches[$0] != nil }.map { .endWatch($0) }
      case .mount: hasMountChange ? [] : [.mount]
      }
    }
  }

  private var links: [Name] {
    nodes.keys.sorted().flatMap { directory -> [Name] in
      guard case .directory(let children)? = nodes[directory] else { return [] }
      return children.keys.sorted().map { Name(directory: directory, name: $0) }.filter { target(of: $0) != nil }
    }
  }

  private func target(of name: Name) -> String? {
    if let node = self[name], case .link(let target)? = nodes[node] { target } else { nil }
  }

  private func isEmpty(_ name: Name) -> Bool {
    if let node = self[name], case .directory(let children)? = nodes[node] { children.isEmpty } else { true }
  }

  private func isDirectory(_ name: Name) -> Bool {
    if let node = self[name], case .directory? = nodes[node] { true } else { false }
  }

  private func mayBeRenamed(_ old: Name, _ new: Name) -> Bool {
    guard old != new, let node = self[old], !isInside(new.directory, node) else { return false }
    return self[new] == nil || isDirectory(old) == isDirectory(new) && isEmpty(new)
  }

  private func isInside(_ directory: Int, _ other: Int) -> Bool {
    if directory == other { return true }
    guard case .directory(let children)? = nodes[other] else { return false }
    return children.values.contains { isInside(directory, $0) }
  }
}

// MARK: - Watches

extension NameDisk {
  mutating func watch(_ path: SystemPath) throws(SystemError) -> NameWatch {
    let node = try find(path)
    guard case .directory? = nodes[node] else { throw Self.error(ENOTDIR, path) }
    if closed.contains(node) { throw Self.error(EACCES, path) }
    if let known = watches[node] { return known }
    if watches.count >= watchCountMax { throw Self.error(ENOSPC, path) }
    lastWatch += 1
    watches[node] = NameWatch(rawValue: lastWatch)
    return NameWatch(rawValue: lastWatch)
  }

  mutating func unwatch(_ watch: NameWatch) {
    guard let node = watches.first(where: { $0.value == watch })?.key else { return }
    watches[node] = nil
    queue(.ended(watch))
  }

  mutating func takeChanges() -> [NameChange] {
    defer { queue = [] }
    return queue
  }

  mutating func takeMountChange() -> Bool {
    defer { hasMountChange = false }
    return hasMountChange
  }
}

// MARK: - Answers of the system

extension NameDisk {
  static func error(_ number: Int32, _ path: SystemPath) -> SystemError {
    SystemError(call: "model", paths: [path], errno: number)
  }

  /// The file at a path, whose last component isn't followed.
  func find(_ path: SystemPath) throws(SystemError) -> Int {
    var way = [Self.root]
    var rest = Self.components(path.description)
    var linkCount = 0
    while let name = rest.popLast() {
      let directory = way[way.count - 1]
      guard case .directory(let children)? = nodes[directory] else { throw Self.error(ENOTDIR, path) }
      if closed.contains(directory) { throw Self.error(EACCES, path) }
      if name == "." { continue }
      if name == ".." {
        if way.count > 1 { way.removeLast() }
        continue
      }
      guard let child = children[name] else { throw Self.error(ENOENT, path) }
      if case .link(let target)? = nodes[child], !rest.isEmpty {
        linkCount += 1
        if linkCount > 40 { throw Self.error(ELOOP, path) }
        if target.hasPrefix("/") { way = [Self.root] }
        rest += Self.components(target)
      } else {
        way.append(child)
      }
    }
    return way[way.count - 1]
  }

  func status(of path: SystemPath) throws(SystemError) -> FileStatus {
    let node = try find(path)
    let kind: FileKind =
      switch nodes[node] {
      case .directory?: .directory
      case .link?: .symbolicLink
      case .file?, nil: .regular
      }
    return FileStatus(
      kind: kind, mode: 0o755, owner: 0, group: 0, size: 0, allocatedSize: 0, modificationTime: 0, changeTime: 0,
      identity: FileIdentity(device: 1, inode: UInt64(node)), linkCount: 1)
  }

  func readLink(_ path: SystemPath) throws(SystemError) -> SystemPath {
    guard case .link(let target)? = nodes[try find(path)] else { throw Self.error(EINVAL, path) }
    return SystemPath(target)
  }

  /// Where a path leads when every link is followed, whatever may be looked up; `nil` for an error.
  func truth(of path: SystemPath) -> Truth? {
    var names: [String] = []
    var current = Self.root
    var missing: [String] = []
    var rest = Self.components(path.description)
    var linkCount = 0
    while let name = rest.popLast() {
      if name == "." { continue }
      if !missing.isEmpty {
        if name == ".." { return nil }
        missing.append(name)
        continue
      }
      guard case .directory(let children)? = nodes[current] else { return nil }
      if name == ".." {
        names = names.dropLast()
        current = names.reduce(Self.root) { self[Name(directory: $0, name: $1)] ?? $0 }
        continue
      }
      guard let child = children[name] else {
        missing = [name]
        continue
      }
      if case .link(let target)? = nodes[child] {
        linkCount += 1
        if linkCount > 40 { return nil }
        if target.hasPrefix("/") { (names, current) = ([], Self.root) }
        rest += Self.components(target)
      } else {
        names.append(name)
        current = child
      }
    }
    let canonical = "/" + (names + missing).joined(separator: "/")
    if !missing.isEmpty { return Truth(canonical: canonical, kind: .missing) }
    if case .directory? = nodes[current] { return Truth(canonical: canonical, kind: .directory) }
    return Truth(canonical: canonical, kind: .other)
  }

  /// The names of a path, the first one at the end.
  private static func components(_ path: String) -> [String] { path.split(separator: "/").reversed().map(String.init) }
}
