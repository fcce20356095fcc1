/// A change of a document's contents, as the count of unsaved changes sees it.
///
/// - Note: `UIDocument.ChangeKind` of Apple's UIKit; rule CD-10.
public enum DocumentEdit: String, Hashable, Sendable, CaseIterable {
  /// Something new.
  case done
  /// The last edit was taken back.
  case undone
  /// An edit that was taken back was made again.
  case redone
  /// The contents count as saved from now on.
  case cleared
}

/// Names the contents that a document had at a moment, so that a save can say later which contents it wrote.
///
/// - Note: Rules CD-07 and CD-10.
public struct DocumentEditToken: Hashable, Sendable {
  let position: Int
  let number: UInt64
}

/// Whether a document has unsaved changes, with undo and redo.
///
/// Edits are positions on a line: an edit goes one forward, taking it back goes one backward. An edit that follows undone ones begins
/// another branch, and the positions ahead can't be reached any more. The contents are saved if they're at the saved position, and
/// that can be reached.
///
/// The count never says "saved" for contents that differ from what was saved; it may say "unsaved" for equal ones.
package struct EditCount: Hashable, Sendable {
  /// How many branches are remembered.
  ///
  /// With more, older tokens count as not reachable.
  static let branchCountMax = 256

  private struct Branch: Hashable {
    let number: UInt64
    let position: Int
  }

  /// Grows with each edit of any kind.
  package private(set) var number: UInt64 = 0
  private var position = 0
  /// The end of the present branch.
  private var end = 0
  /// Positions grow from one to the next: a branch at a lower position makes those above it needless.
  private var branches: [Branch] = []
  /// Tokens before it can't be judged any more.
  private var oldestNumber: UInt64 = 0
  private var saved: DocumentEditToken?

  package init() { saved = token }

  /// The contents as they are now.
  package var token: DocumentEditToken { DocumentEditToken(position: position, number: number) }

  /// Whether the contents differ from those that were saved last.
  package var hasChanges: Bool {
    guard let saved, isReachable(saved) else { return true }
    return saved.position != position
  }

  /// Whether there are changes now, and surely after another edit.
  var leavesChanges: Bool { position == end && hasChanges && (saved?.position ?? 0) <= position }

  package mutating func note(_ edit: DocumentEdit) {
    switch edit {
    case .done:
      if position < end { branch() }
      position += 1
      end = position
    case .undone: position -= 1
    case .redone:
      position += 1
      // A redo without an undo before it is an edit.
      end = max(end, position)
    case .cleared: break
    }
    number += 1
    if edit == .cleared { saved = token }
  }

  /// The contents that a token names are in the file.
  package mutating func noteSaved(_ token: DocumentEditToken) { saved = token }

  /// Contents are in the file that were never the document's, and those that it has stay: no undoing leads to what is saved.
  package mutating func noteOtherSaved() {
    number += 1
    oldestNumber = number
  }

  /// Other contents have come that are saved; nothing can be taken back to those before.
  package mutating func restart() {
    number += 1
    position = 0
    end = 0
    branches = []
    oldestNumber = number
    saved = token
  }

  private mutating func branch() {
    while let last = branches.last, last.position >= position { branches.removeLast() }
    // An edit made after the branch has a larger number.
    branches.append(Branch(number: number, position: position))
    if branches.count > Self.branchCountMax { oldestNumber = branches.removeFirst().number + 1 }
  }

  /// Whether undoing and redoing leads to the contents that a token names.
  private func isReachable(_ token: DocumentEditToken) -> Bool {
    if token.number < oldestNumber { return false }
    // The first branch made since then is at the lowest position of them.
    guard let branch = branches.first(where: { $0.number >= token.number }) else { return true }
    return token.position <= branch.position
  }
}
