/// Determines which files have the same path in two states of an index.
///
/// Makes no path, and compares that of a directory once for members that are asked for one after the other.
package struct PathComparison {
  private let before: FileTable
  private let after: FileTable
  private var lastParent: (number: FileNumber, isSame: Bool)?

  package init(_ before: FileTable, _ after: FileTable) {
    self.before = before
    self.after = after
  }

  /// Whether a file that's in both states has the same path.
  package mutating func isSame(_ number: FileNumber) -> Bool {
    let parent = before[number].parent
    if after[number].parent != parent || !hasSameName(number) { return false }
    if parent == .none { return true }
    if let lastParent, lastParent.number == parent { return lastParent.isSame }
    let isSame = isSameAbove(parent)
    lastParent = (parent, isSame)
    return isSame
  }

  private func isSameAbove(_ number: FileNumber) -> Bool {
    var number = number
    while number != .none {
      if after[number].parent != before[number].parent || !hasSameName(number) { return false }
      number = before[number].parent
    }
    return true
  }

  private func hasSameName(_ number: FileNumber) -> Bool {
    if before[number].parent == .none { return before.rootPaths[number] == after.rootPaths[number] }
    return before.names.withName(at: before[number].name) { after.names.isName($0, at: after[number].name) }
  }
}
