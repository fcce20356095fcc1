import SeededRandom
import Testing

@testable import FileDocuments

@Suite("The count of unsaved edits")
struct EditCountTests {
  @Test("CD-10: An edit that's taken back leaves nothing unsaved, and clearing does so as well")
  func undo() {
    var count = EditCount()
    #expect(!count.hasChanges)
    count.note(.done)
    #expect(count.hasChanges)
    count.note(.undone)
    #expect(!count.hasChanges)
    count.note(.redone)
    #expect(count.hasChanges)
    count.note(.cleared)
    #expect(!count.hasChanges)
    count.note(.undone)
    #expect(count.hasChanges)
  }

  @Test("The saved contents can't be reached any more when an edit follows undone ones")
  func branch() {
    var count = EditCount()
    count.note(.done)
    count.noteSaved(count.token)
    count.note(.undone)
    count.note(.done)
    #expect(count.hasChanges)
    count.note(.undone)
    count.note(.redone)
    #expect(count.hasChanges)
  }

  @Test("CD-07, UD-15: Edits made while a save runs stay unsaved when it ends")
  func tokens() {
    var count = EditCount()
    count.note(.done)
    let token = count.token
    count.note(.done)
    count.noteSaved(token)
    #expect(count.hasChanges)
    count.note(.undone)
    #expect(!count.hasChanges)
  }

  /// Contents with names, and undo and redo as stacks of them, as in an editor.
  private struct Editor {
    var undone: [Int] = []
    var done: [Int] = [0]
    var last = 0

    var contents: Int { done[done.count - 1] }

    mutating func perform(_ edit: DocumentEdit) -> Bool {
      switch edit {
      case .done:
        last += 1
        done.append(last)
        undone = []
      case .undone:
        if done.count == 1 { return false }
        undone.append(done.removeLast())
      case .redone:
        guard let contents = undone.popLast() else { return false }
        done.append(contents)
      case .cleared: break
      }
      return true
    }
  }

  @Test("The count says what a comparison of the contents says", arguments: Budget.seeds(normal: 20, long: 2000))
  func comparison(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var (count, editor) = (EditCount(), Editor())
    var saved = editor.contents
    var pending: [(token: DocumentEditToken, contents: Int)] = []
    for _ in 0..<500 {
      switch random.below(8) {
      case 0: pending.append((count.token, editor.contents))
      case 1 where !pending.isEmpty:
        let save = pending.remove(at: random.below(pending.count))
        count.noteSaved(save.token)
        saved = save.contents
      default:
        let edit = random.pick([DocumentEdit.done, .done, .undone, .undone, .redone, .cleared])
        guard edit != .cleared || random.chance(1, in: 10), editor.perform(edit) else { continue }
        count.note(edit)
        if edit == .cleared { saved = editor.contents }
      }
      #expect(count.hasChanges == (saved != editor.contents), "seed \(seed)")
    }
  }

  @Test("With more branches than are remembered, an old token counts as not saved")
  func manyBranches() {
    var count = EditCount()
    let token = count.token
    for _ in 0...EditCount.branchCountMax {
      // Each branch begins at a higher position.
      for edit in [DocumentEdit.done, .done, .undone] { count.note(edit) }
    }
    count.note(.done)
    for _ in 0..<(EditCount.branchCountMax + 2) { count.note(.undone) }
    count.noteSaved(token)
    #expect(count.hasChanges)
  }
}
