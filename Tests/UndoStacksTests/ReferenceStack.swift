import UndoStacks

/// The calls of a user of a stack; the stack and the plain model of it both have them.
protocol UndoMachine {
  var level: Int { get }
  var performing: UndoStack<Int, String>.Direction? { get }
  var undoCount: Int { get }
  var redoCount: Int { get }
  var levelsMax: Int { get set }
  mutating func beginGroup()
  mutating func endGroup() throws(UndoStack<Int, String>.Misuse)
  @discardableResult mutating func register(_ action: Int) -> Bool
  mutating func disable()
  mutating func enable() throws(UndoStack<Int, String>.Misuse)
  mutating func removeAll()
  mutating func removeAll(where isUnwanted: (Int) -> Bool)
  mutating func beginUndo() throws(UndoStack<Int, String>.Misuse) -> Bool
  mutating func beginUndoOfInnerGroup() throws(UndoStack<Int, String>.Misuse) -> Bool
  mutating func beginRedo() throws(UndoStack<Int, String>.Misuse) -> Bool
  mutating func nextAction() -> Int?
  @discardableResult mutating func endPerforming() -> Int
  func label(_ direction: UndoStack<Int, String>.Direction) -> String?
  func isDiscardable(_ direction: UndoStack<Int, String>.Direction) -> Bool
  mutating func updateLabel(_ change: (inout String?) -> Void)
  mutating func markDiscardable(_ isDiscardable: Bool)
}

extension UndoStack: UndoMachine where Action == Int, Label == String {}

/// The same as a tree of groups: as plain as can be, and slow.
struct ReferenceStack: UndoMachine {
  typealias Misuse = UndoStack<Int, String>.Misuse
  typealias Direction = UndoStack<Int, String>.Direction

  indirect enum Node {
    case action(Int)
    case group(Tree)

    var actions: [Int] {
      switch self {
      case .action(let action): [action]
      case .group(let tree): tree.actions
      }
    }
  }

  struct Tree {
    var nodes: [Node] = []
    var label: String?
    var isMarked = false
    /// Decided when it was closed.
    var wasDiscardable = false

    var actions: [Int] { nodes.flatMap(\.actions) }

    var isDiscardable: Bool {
      isMarked
        || !nodes.isEmpty
          && nodes.allSatisfy {
            if case .group(let tree) = $0 { tree.wasDiscardable } else { false }
          }
    }

    func closed() -> Tree? {
      if actions.isEmpty { return nil }
      var tree = self
      tree.wasDiscardable = isDiscardable
      return tree
    }

    mutating func remove(where isUnwanted: (Int) -> Bool) {
      nodes = nodes.compactMap { node in
        switch node {
        case .action(let action): return isUnwanted(action) ? nil : node
        case .group(var tree):
          tree.remove(where: isUnwanted)
          return tree.actions.isEmpty ? nil : .group(tree)
        }
      }
    }
  }

  struct Performance {
    let direction: Direction
    var queue: [Int]
    let label: String?
    let wasDiscardable: Bool
    var open = [Tree()]
  }

  var undone: [Tree] = []
  var redone: [Tree] = []
  var current: [Tree] = []
  var performance: Performance?
  var disabledCount = 0
  var levelsMax = 0 { didSet { trim() } }

  var open: [Tree] {
    get { performance?.open ?? current }
    set { if performance == nil { current = newValue } else { performance?.open = newValue } }
  }

  private var currentIsEmpty: Bool { current.allSatisfy(\.actions.isEmpty) }

  var level: Int { open.count }
  var performing: Direction? { performance?.direction }
  var undoCount: Int { undone.count + (currentIsEmpty ? 0 : 1) }
  var redoCount: Int { redone.count }

  mutating func trim() {
    if levelsMax == 0 { return }
    undone = undone.suffix(levelsMax)
    redone = redone.suffix(levelsMax)
  }

  mutating func beginGroup() { open.append(Tree()) }

  mutating func endGroup() throws(Misuse) {
    if open.count <= (performance == nil ? 0 : 1) { throw .noOpenGroup }
    guard let tree = open.removeLast().closed() else { return }
    if open.isEmpty {
      undone.append(tree)
      trim()
    } else {
      open[open.count - 1].nodes.append(.group(tree))
    }
  }

  mutating func register(_ action: Int) -> Bool {
    if disabledCount > 0 { return false }
    if performance == nil { redone = [] }
    if open.isEmpty {
      undone.append(Tree(nodes: [.action(action)]))
      trim()
    } else {
      open[open.count - 1].nodes.append(.action(action))
    }
    return true
  }

  mutating func disable() { disabledCount += 1 }

  mutating func enable() throws(Misuse) {
    if disabledCount == 0 { throw .alreadyEnabled }
    disabledCount -= 1
  }

  mutating func removeAll() {
    removeAll { _ in true }
    disabledCount = 0
  }

  mutating func removeAll(where isUnwanted: (Int) -> Bool) {
    func keep(_ tree: Tree) -> Tree? {
      var tree = tree
      tree.remove(where: isUnwanted)
      return tree.actions.isEmpty ? nil : tree
    }
    undone = undone.compactMap(keep)
    redone = redone.compactMap(keep)
    for index in current.indices { current[index].remove(where: isUnwanted) }
    if var changed = performance {
      changed.queue.removeAll(where: isUnwanted)
      for index in changed.open.indices { changed.open[index].remove(where: isUnwanted) }
      performance = changed
    }
  }

  private mutating func perform(_ direction: Direction, _ tree: Tree) {
    performance = Performance(
      direction: direction, queue: tree.actions.reversed(), label: tree.label, wasDiscardable: tree.wasDiscardable)
  }

  mutating func beginUndo() throws(Misuse) -> Bool {
    if performance != nil { throw .performing }
    if current.count > 1 { throw .innerGroupsOpen }
    if current.count == 1 { try endGroup() }
    guard let tree = undone.popLast() else { return false }
    perform(.undo, tree)
    return true
  }

  mutating func beginUndoOfInnerGroup() throws(Misuse) -> Bool {
    if performance != nil { throw .performing }
    guard let innermost = current.last else { return try beginUndo() }
    switch innermost.nodes.last {
    case nil: return false
    case .action: throw .actionsOutsideGroup
    case .group(let tree):
      current[current.count - 1].nodes.removeLast()
      perform(.undo, tree)
      return true
    }
  }

  mutating func beginRedo() throws(Misuse) -> Bool {
    if performance != nil { throw .performing }
    guard let tree = redone.popLast() else { return false }
    perform(.redo, tree)
    return true
  }

  mutating func nextAction() -> Int? {
    if performance?.queue.isEmpty != false { return nil }
    return performance?.queue.removeFirst()
  }

  mutating func endPerforming() -> Int {
    guard let count = performance?.open.count else { return 0 }
    for _ in 1..<count { try? endGroup() }
    let ended = performance
    performance = nil
    if let ended, var tree = ended.open[0].closed() {
      tree.label = tree.label ?? ended.label
      tree.wasDiscardable = tree.wasDiscardable || ended.wasDiscardable
      if ended.direction == .undo {
        redone.append(tree)
      } else if current.isEmpty {
        undone.append(tree)
      } else {
        current[current.count - 1].nodes.append(.group(tree))
      }
    }
    trim()
    return count - 1
  }

  func label(_ direction: Direction) -> String? {
    if direction == .redo { return redone.last?.label }
    return currentIsEmpty ? undone.last?.label : current.first?.label
  }

  func isDiscardable(_ direction: Direction) -> Bool {
    if direction == .redo { return redone.last?.wasDiscardable ?? false }
    if currentIsEmpty { return undone.last?.wasDiscardable ?? false }
    // The actions of groups inside of it that are still open are its own as well.
    guard let first = current.first else { return false }
    return first.isMarked || first.isDiscardable && current.dropFirst().allSatisfy(\.actions.isEmpty)
  }

  mutating func updateLabel(_ change: (inout String?) -> Void) {
    if open.isEmpty {
      if let last = undone.indices.last { change(&undone[last].label) }
      return
    }
    for index in open.indices {
      if open[index].label == nil { open[index].label = performance?.label }
      change(&open[index].label)
    }
  }

  mutating func markDiscardable(_ isDiscardable: Bool) {
    if open.isEmpty {
      if let last = undone.indices.last { undone[last].wasDiscardable = isDiscardable }
      return
    }
    open[open.count - 1].isMarked = isDiscardable
  }
}
