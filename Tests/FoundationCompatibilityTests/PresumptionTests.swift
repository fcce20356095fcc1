import FileCoordination
import Foundation
import FoundationCompatibility
import TestSupport
import Testing

/// The state of a presenter's queue before its class has been asked.
enum QueueState: Sendable, CaseIterable {
  case free
  /// An operation waits for a semaphore there.
  case blocked
  case suspended
}

/// The access of a test to a presenter's file, `d/f`.
struct Deed: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let access: Access
  var changes: @Sendable (URL) throws -> Void = { _ in }

  static let read = Deed(testDescription: "read", access: .read)
  static let write = Deed(testDescription: "write", access: .write) { try Data("new".utf8).write(to: $0) }
  static let delete = Deed(testDescription: "delete", access: .write(.forDeleting)) {
    try FileManager.default.removeItem(at: $0)
  }
}

/// Presenters that have written one method.
protocol PresentersOfOneMethod: Sendable, CaseIterable {
  /// A presenter whose class is another for each `State`.
  func presenter<State>(
    _: State.Type, _ item: URL, _ directory: URL
  ) -> any JournalPresenter & NSFilePresenter
}

extension PresentersOfOneMethod {
  /// The classes of these tests are others for each state of the queue, so that none of them has been asked before.
  func presenter(_ state: QueueState, _ item: URL, _ directory: URL) -> any JournalPresenter & NSFilePresenter {
    switch state {
    case .free: presenter(Free.self, item, directory)
    case .blocked: presenter(Blocked.self, item, directory)
    case .suspended: presenter(Suspended.self, item, directory)
    }
  }
}

/// The methods about reading, writing and deleting.
enum OneMethod: PresentersOfOneMethod {
  case change, subitemChange, relinquishToReader, relinquishToWriter, save, deletion, subitemDeletion

  func presenter<State>(
    _: State.Type, _ item: URL, _ directory: URL
  ) -> any JournalPresenter & NSFilePresenter {
    switch self {
    case .change: ChangeClass<State>(item)
    case .subitemChange: SubitemChangeClass<State>(directory)
    case .relinquishToReader: ReaderClass<State>(item)
    case .relinquishToWriter: WriterClass<State>(item)
    case .save: SaveClass<State>(item)
    case .deletion: DeletionClass<State>(item)
    case .subitemDeletion: SubitemDeletionClass<State>(directory)
    }
  }

  /// The notifications of a deed, sooner or later.
  func news(of deed: Deed) -> [String] {
    switch (self, deed.testDescription) {
    case (.change, "write"): ["changed"]
    case (.subitemChange, "write"), (.subitemChange, "delete"): ["f changed"]
    case (.relinquishToReader, "read"): ["to reader"]
    case (.relinquishToWriter, "write"), (.relinquishToWriter, "delete"): ["to writer"]
    case (.save, "read"): ["save"]
    case (.deletion, "delete"): ["deletion"]
    case (.subitemDeletion, "delete"): ["deletion of f"]
    default: []
    }
  }
}

/// The methods about moves and new entries.
enum OneMoveMethod: PresentersOfOneMethod {
  case itemMove, subitemMove, subitemAppearance

  func presenter<State>(
    _: State.Type, _ item: URL, _ directory: URL
  ) -> any JournalPresenter & NSFilePresenter {
    switch self {
    case .itemMove: MoveClass<State>(item)
    case .subitemMove: SubitemMoveClass<State>(directory)
    case .subitemAppearance: AppearanceClass<State>(directory)
    }
  }

  /// The notifications when `f` becomes `g` and `new` is made.
  var news: [String] {
    switch self {
    case .itemMove: ["moved to g"]
    case .subitemMove: ["f moved to g"]
    case .subitemAppearance: ["new appeared"]
    }
  }
}

/// The methods for announced changes: attributes and versions.
enum OneAnnouncedMethod: PresentersOfOneMethod {
  case attributes, gain, loss, resolution, subitemGain, subitemLoss, subitemResolution

  func presenter<State>(
    _: State.Type, _ item: URL, _ directory: URL
  ) -> any JournalPresenter & NSFilePresenter {
    switch self {
    case .attributes: AttributesClass<State>(item)
    case .gain: GainClass<State>(item)
    case .loss: LossClass<State>(item)
    case .resolution: ResolutionClass<State>(item)
    case .subitemGain: SubitemGainClass<State>(directory)
    case .subitemLoss: SubitemLossClass<State>(directory)
    case .subitemResolution: SubitemResolutionClass<State>(directory)
    }
  }
}

private enum Free {}
private enum Blocked {}
private enum Suspended {}

private final class ChangeClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedItemDidChange() { note("changed") }
}
private final class SubitemChangeClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedSubitemDidChange(at url: URL) { note("\(url.lastPathComponent) changed") }
}
private final class ReaderClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("to reader")
    reader(nil)
  }
}
private final class WriterClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("to writer")
    writer(nil)
  }
}
private final class SaveClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func savePresentedItemChanges() async throws { journal.note("save") }
}
private final class DeletionClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("deletion")
    completionHandler(nil)
  }
}
private final class SubitemDeletionClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func accommodatePresentedSubitemDeletion(
    at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    note("deletion of \(url.lastPathComponent)")
    completionHandler(nil)
  }
}
private final class MoveClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedItemDidMove(to newURL: URL) { note("moved to \(newURL.lastPathComponent)") }
}
private final class SubitemMoveClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) {
    note("\(oldURL.lastPathComponent) moved to \(newURL.lastPathComponent)")
  }
}
private final class AppearanceClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedSubitemDidAppear(at url: URL) { note("\(url.lastPathComponent) appeared") }
}
private final class AttributesClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<URLResourceKey>) { note("attributes") }
}
private final class GainClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedItemDidGain(_ version: NSFileVersion) { note("gain") }
}
private final class LossClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedItemDidLose(_ version: NSFileVersion) { note("loss") }
}
private final class ResolutionClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedItemDidResolveConflict(_ version: NSFileVersion) { note("resolution") }
}
private final class SubitemGainClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedSubitem(at url: URL, didGain version: NSFileVersion) { note("subitemGain") }
}
private final class SubitemLossClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedSubitem(at url: URL, didLose version: NSFileVersion) { note("subitemLoss") }
}
private final class SubitemResolutionClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedSubitem(at url: URL, didResolve version: NSFileVersion) { note("subitemResolution") }
}
private final class EvictionClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func accommodatePresentedItemEviction(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("eviction")
    NSFileCoordinator.removeFilePresenter(self)
    completionHandler(nil)
  }
}
/// Hasn't written the method about eviction, which is a veto.
private final class StayingClass<State>: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedItemDidChange() { note("changed") }
}
/// States the methods that it has implemented.
private final class StatedPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  var writtenCallbacks: FilePresenterCallbacks? { [.relinquishToWriter, .itemDidChange] }
  func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("to writer")
    writer(nil)
  }
  func presentedItemDidChange() { note("changed") }
}
private class BasePresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {}
private final class DerivedPresenter: BasePresenter, @unchecked Sendable {}

@Suite("Classes of which nobody knows what they have written", .blocking, .timeLimit(.minutes(4)))
struct PresenterPresumptionTests {
  /// Keeps a queue from running anything until `release`.
  private func occupy(_ queue: OperationQueue, _ state: QueueState) -> () -> Void {
    switch state {
    case .free: return {}
    case .suspended:
      queue.isSuspended = true
      return { queue.isSuspended = false }
    case .blocked:
      let (isBlocked, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      queue.addOperation {
        isBlocked.signal()
        mayGoOn.wait()
      }
      isBlocked.wait()
      return { mayGoOn.signal() }
    }
  }

  private func run(_ deed: Deed, _ url: URL) -> (error: NSError?, unanswered: [String]) {
    let coordinator = NSFileCoordinator()
    var unanswered: [String] = []
    let error = deed.access.run(by: coordinator, url) { url in
      unanswered = coordinator.unansweredPresenters
      #expect(throws: Never.self) { try deed.changes(url) }
    }
    return (error, unanswered)
  }

  @Test(
    "A presenter that has written one method delays nobody beyond the bound, and hears what it has written",
    arguments: OneMethod.allCases, QueueState.allCases)
  func oneMethod(method: OneMethod, state: QueueState) throws {
    try withSandbox { box in
      let url = try box.write("d/f")
      let presenter = method.presenter(state, url, box.url("d"))
      NSFileCoordinator.addFilePresenter(presenter)
      defer { NSFileCoordinator.removeFilePresenter(presenter) }
      let release = occupy(presenter.queue, state)
      let name = String(describing: type(of: presenter))
      for deed in [Deed.write, .read, .delete] {
        let (error, unanswered) = run(deed, url)
        #expect(error == nil)
        // On a busy machine a queue that's free may take longer than the bound, too.
        #expect(unanswered.allSatisfy { $0.hasPrefix(name) && $0.contains("its queue didn't begin it within") })
      }
      release()
      let expected = [Deed.write, .read, .delete].flatMap(method.news)
      #expect(presenter.journal.wait { $0.count >= expected.count })
      box.quiesce()
      presenter.queue.waitUntilAllOperationsAreFinished()
      #expect(presenter.journal.entries == expected)
      // Now the package has determined the methods of the class: other callbacks keep nobody, although the queue isn't
      // free.
      let again = occupy(presenter.queue, state == .free ? .blocked : state)
      defer { again() }
      _ = try box.write("d/f")
      for deed in [Deed.write, .read, .delete] where method == .change || method == .subitemChange {
        let (error, unanswered) = run(deed, url)
        #expect(error == nil && unanswered.isEmpty)
      }
    }
  }

  @Test(
    "A presenter that has written one method about moves or entries delays nobody beyond the bound, and hears of them",
    arguments: OneMoveMethod.allCases, QueueState.allCases)
  func oneMoveMethod(method: OneMoveMethod, state: QueueState) throws {
    try withSandbox { box in
      let url = try box.write("d/f")
      let presenter = method.presenter(state, url, box.url("d"))
      NSFileCoordinator.addFilePresenter(presenter)
      defer { NSFileCoordinator.removeFilePresenter(presenter) }
      let release = occupy(presenter.queue, state)
      box.move("d/f", to: "d/g")
      #expect(run(.write, box.url("d/new")).error == nil)
      release()
      #expect(presenter.journal.wait { $0.count >= method.news.count })
      box.quiesce()
      presenter.queue.waitUntilAllOperationsAreFinished()
      #expect(presenter.journal.entries == method.news)
    }
  }

  @Test(
    "A presenter that has written one method about attributes or versions delays nobody, and hears of them",
    arguments: OneAnnouncedMethod.allCases, QueueState.allCases)
  func oneAnnouncedMethod(method: OneAnnouncedMethod, state: QueueState) throws {
    try withSandbox { box in
      let url = try box.write("d/f")
      let presenter = method.presenter(state, url, box.url("d"))
      NSFileCoordinator.addFilePresenter(presenter)
      defer { NSFileCoordinator.removeFilePresenter(presenter) }
      let release = occupy(presenter.queue, state)
      // Inside of a reader, so that nothing else is reported.
      try FileCoordinator(label: "announcer", domain: Sandbox.domain).blocking.read(url) { access in
        for change in [FileVersionChange.gained, .lost, .resolved] { access.didChangeVersion(change, version: "one") }
      }
      NSFileCoordinator().item(at: url, didChangeUbiquityAttributes: [.isUbiquitousItemKey])
      release()
      #expect(presenter.journal.wait(for: "\(method)"))
      box.quiesce()
      presenter.queue.waitUntilAllOperationsAreFinished()
      #expect(presenter.journal.entries == ["\(method)"])
    }
  }

  @Test(
    "C-208: Contents are given up only after consent, however long a queue that isn't free takes",
    arguments: QueueState.allCases)
  func eviction(state: QueueState) throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter: any JournalPresenter & NSFilePresenter =
        switch state {
        case .free: EvictionClass<Free>(url)
        case .blocked: EvictionClass<Blocked>(url)
        case .suspended: EvictionClass<Suspended>(url)
        }
      NSFileCoordinator.addFilePresenter(presenter)
      defer { NSFileCoordinator.removeFilePresenter(presenter) }
      let release = occupy(presenter.queue, state)
      let evictor = FileCoordinator(label: "evictor", domain: Sandbox.domain)
      if state != .free {
        let error = #expect(throws: FileCoordinationError.self) {
          try evictor.blocking.evict(url, deadlines: .within(.milliseconds(500))) { _ in Issue.record("evicted") }
        }
        #expect(error?.code == .presenterUnresponsive)
      }
      release()
      try evictor.blocking.evict(url) { _ in presenter.journal.note("evicted") }
      #expect(presenter.journal.entries.suffix(2) == ["eviction", "evicted"])
    }
  }

  @Test("C-208: A class that hasn't written the method about eviction vetoes it", arguments: QueueState.allCases)
  func veto(state: QueueState) throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter: any JournalPresenter & NSFilePresenter =
        switch state {
        case .free: StayingClass<Free>(url)
        case .blocked: StayingClass<Blocked>(url)
        case .suspended: StayingClass<Suspended>(url)
        }
      NSFileCoordinator.addFilePresenter(presenter)
      defer { NSFileCoordinator.removeFilePresenter(presenter) }
      let release = occupy(presenter.queue, state)
      let evictor = FileCoordinator(label: "evictor", domain: Sandbox.domain)
      let error = #expect(throws: FileCoordinationError.self) {
        try evictor.blocking.evict(url, deadlines: .within(state == .free ? .seconds(60) : .milliseconds(500))) { _ in
          Issue.record("evicted")
        }
      }
      #expect(error?.code == (state == .free ? .evictionRefused : .presenterUnresponsive))
      release()
    }
  }

  @Test(
    "A callback that a class is known to have written is waited for until the deadline, and stated ones aren't guessed")
  func known() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = StatedPresenter(url)
      NSFileCoordinator.addFilePresenter(presenter)
      defer { NSFileCoordinator.removeFilePresenter(presenter) }
      let release = occupy(presenter.queue, .suspended)
      #expect(Access.read.run(url) == nil)
      #expect(Access.write(.forDeleting).run(by: patientCoordinator(.milliseconds(50)), url)?.code != nil)
      let writer = NSFileCoordinator()
      writer.deadlines = .within(.milliseconds(1500))
      let error = Access.write.run(by: writer, url) { _ in Issue.record("written") }
      let native = error?.userInfo[NSUnderlyingErrorKey] as? FileCoordinationError
      #expect(native?.code == .presenterUnresponsive)
      release()
      #expect(Access.write.run(url) == nil)
      #expect(presenter.journal.wait(for: "changed"))
    }
  }

  private func patientCoordinator(_ deadline: Duration) -> NSFileCoordinator {
    let coordinator = NSFileCoordinator()
    coordinator.deadlines = .within(deadline)
    return coordinator
  }

  @Test(
    "Callbacks learned from one object are known of all objects of the class and of its subclasses, also of registered ones"
  )
  func sharedKnowledge() throws {
    try withSandbox { box in
      let (lesson, url) = (try box.write("lesson"), try box.write("f"))
      let (teacher, other) = (BasePresenter(lesson), DerivedPresenter(url))
      for presenter in [teacher, other] { NSFileCoordinator.addFilePresenter(presenter) }
      defer { for presenter in [teacher, other] { NSFileCoordinator.removeFilePresenter(presenter) } }
      let release = occupy(other.queue, .suspended)
      defer { release() }
      // On a busy machine the teacher may be late with its first answer; it's delivered and teaches all the same.
      for deed in [Deed.write, .read] { #expect(run(deed, lesson).error == nil) }
      box.quiesce()
      teacher.queue.waitUntilAllOperationsAreFinished()
      for deed in [Deed.write, .read] {
        let (error, unanswered) = run(deed, url)
        #expect(error == nil && unanswered.isEmpty, "the teacher has answered, for both")
      }
    }
  }

  @Test(
    "C-058, C-060: A class hears of entries by the next more general method that it has written, from the first message on"
  )
  func entries() throws {
    try withSandbox { box in
      _ = try box.write("d/f")
      let change = EntryPresenter(box.url("d"))
      let subitem = OnlySubitemPresenter(box.url("d"))
      for round in 1...2 {
        box.presenting(change, subitem) {
          #expect(
            run(Deed(testDescription: "make", access: .write) { try Data().write(to: $0) }, box.url("d/new")).error
              == nil)
          box.move("d/new", to: "d/moved")
          #expect(run(.delete, box.url("d/moved")).error == nil)
          #expect(run(.write, box.url("d/f")).error == nil)
        }
        #expect(change.journal.entries.count == 3 * round)
        #expect(subitem.journal.entries.suffix(5) == ["new", "new", "moved", "moved", "f"])
      }
    }
  }
}

private final class EntryPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedItemDidChange() { note("changed") }
}
private final class OnlySubitemPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedSubitemDidChange(at url: URL) { note(url.lastPathComponent) }
}
