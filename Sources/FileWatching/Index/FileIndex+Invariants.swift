internal import SystemInterface

extension FileIndex {
  /// The violated invariants of the index; empty unless there's a mistake in it.
  ///
  /// - Complexity: O(*n*).
  package var violations: [String] {
    var found: [String] = []
    let used = table.numbers.filter { table[$0].isUsed }
    if used.count != count { found.append("\(used.count) files where \(count) are counted") }
    if childTable.count != count - table.rootPaths.count { found.append("\(childTable.count) files by name") }
    for number in used where table.rootPaths[number] == nil { check(number, &found) }
    for number in used { checkChildren(of: number, &found) }
    checkNumbers(used, &found)
    let links = Dictionary(grouping: used.filter { table[$0].isLinked }) { table.facts(of: $0).identity }
    if links.mapValues(Set.init) != linked { found.append("the hard links are others") }
    return found
  }

  private func check(_ number: FileNumber, _ found: inout [String]) {
    let row = table[number]
    let name = table.name(of: number)
    if !table[row.parent].isUsed { found.append("'\(name)' is in nothing") }
    if child(named: name, of: row.parent) != number { found.append("'\(name)' isn't found by its name") }
    if table[row.parent].firstChild != number, table[row.previous].next != number {
      found.append("'\(name)' isn't behind the one before it")
    }
  }

  private func checkChildren(of directory: FileNumber, _ found: inout [String]) {
    let children = table.children(of: directory)
    for child in children where table[child].parent != directory || !table[child].isUsed {
      found.append("a member of \(directory) that isn't in it")
    }
    if children.count != table.childCount(of: directory) {
      found.append("\(children.count) members of \(directory), where \(table.childCount(of: directory)) are counted")
    }
  }

  private func checkNumbers(_ used: [FileNumber], _ found: inout [String]) {
    let unused = free + limbo.map(\.number)
    if Set(unused).count != unused.count || !Set(unused).isDisjoint(with: used) {
      found.append("a number is unused twice, or used as well")
    }
    if unused.count + used.count + 1 != table.capacity { found.append("numbers are lost") }
  }
}
