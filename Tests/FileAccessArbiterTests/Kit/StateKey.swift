import CompactContainers
import Glibc

@testable import FileAccessArbiter

/// A state of a simulation as bytes: equal for states that behave alike.
///
/// Most of an exploration would be spent on texts if these were the keys.
struct StateKey: Hashable, Sendable {
  fileprivate let bytes: [UInt8]

  static func == (left: Self, right: Self) -> Bool {
    left.bytes.count == right.bytes.count && memcmp(left.bytes, right.bytes, left.bytes.count) == 0
  }

  func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
}

extension Simulation {
  /// The same for states that behave alike: names of accesses and messages are replaced by numbers in order of mention.
  var key: StateKey {
    var writer = StateWriter()
    writer.write(world.arbiter)
    for worker in workers { writer.write(worker) }
    writer.write(unstarted.sorted()) { $0.write($1) }
    for count in activeReactions { writer.write(count) }
    writer.write(departed.sorted()) { $0.write(Int($1)) }
    writer.write(world.owedReacquirers.keys.sorted()) { $0.write($1) }
    writer.write(world.removed.sorted()) { $0.write($1) }
    writer.write(turns) { $0.write($1) { $0.write($1) } }
    return StateKey(bytes: writer.bytes)
  }
}

/// Writes the contents of ``FileAccessArbiter/stateDescription``, and the additional state of simulations.
///
/// Everything of variable length begins with its length, so different states never look alike.
private struct StateWriter {
  private(set) var bytes: [UInt8] = []
  // In order of mention; the place is the new name.
  private var accesses: [AccessID] = []
  private var messages: [MessageID] = []
  private var purposes: [PurposeID] = []

  init() { bytes.reserveCapacity(512) }

  mutating func write(_ number: Int) {
    let number = UInt16(number)
    bytes.append(UInt8(truncatingIfNeeded: number))
    bytes.append(UInt8(truncatingIfNeeded: number >> 8))
  }

  /// Several yes-or-no's as one number.
  mutating func write(flags: Bool...) {
    var number = 0
    for flag in flags { number = number << 1 | (flag ? 1 : 0) }
    write(number)
  }

  mutating func write(_ text: String) {
    write(text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }

  mutating func write(_ path: ItemPath) {
    write(path.bytes.count)
    bytes.append(contentsOf: path.bytes)
  }

  mutating func write<List: Collection>(_ list: List, _ body: (inout StateWriter, List.Element) -> Void) {
    write(list.count)
    for element in list { body(&self, element) }
  }

  mutating func write<Element>(_ optional: Element?, _ body: (inout StateWriter, Element) -> Void) {
    write(optional == nil ? 0 : 1)
    if let optional { body(&self, optional) }
  }
}

// MARK: - Names

extension StateWriter {
  mutating func write(_ id: PresenterID) { write(Int(id.rawValue)) }

  mutating func write(_ id: AccessID) {
    if let name = accesses.firstIndex(where: { $0.rawValue == id.rawValue }) { return write(name) }
    write(accesses.count)
    accesses.append(id)
  }

  mutating func write(_ id: MessageID) {
    if let name = messages.firstIndex(where: { $0.rawValue == id.rawValue }) { return write(name) }
    write(messages.count)
    messages.append(id)
  }

  /// Purposes of single accesses have numbers above those that scenarios choose.
  mutating func write(_ purpose: PurposeID) {
    if purpose.rawValue <= 1000 { return write(Int(purpose.rawValue)) }
    if let name = purposes.firstIndex(where: { $0.rawValue == purpose.rawValue }) { return write(1001 + name) }
    write(1001 + purposes.count)
    purposes.append(purpose)
  }

  mutating func write(_ context: ExecutionContext) {
    switch context {
    case .access(let id):
      write(0)
      write(id)
    case .message(let id):
      write(1)
      write(id)
    }
  }
}

// MARK: - The arbiter

extension StateWriter {
  mutating func write(_ arbiter: FileAccessArbiter) {
    let ids = arbiter.accesses.sortedKeys.sorted { arbiter.accesses[$0].sequence < arbiter.accesses[$1].sequence }
    write(ids) { $0.write(arbiter.accesses[$1], in: arbiter) }
    write(arbiter.presenters.sortedKeys) { $0.write(arbiter.presenters[$1], in: arbiter) }
    write(arbiter.messages.sortedKeys) { $0.write(arbiter.messages[$1], in: arbiter) }
  }

  private mutating func write(_ access: FileAccessArbiter.Access, in arbiter: FileAccessArbiter) {
    write(access.id)
    write(access.phase)
    write(access.purpose)
    write(flags: access.isPreparation, access.traits.contains(.overlapsByMove))
    write(access.items.count)
    for index in access.items.indices {
      write(arbiter.path(ofItem: index, of: access))
      write(access.items[index].access)
      write(Int(access.items[index].marks.rawValue))
      write(access.formerClaims.filter { $0.item == index }) {
        $0.write(arbiter.tree.path(of: arbiter.tree.claims[$1.claim].node))
      }
    }
    write(access.lineage) { $0.write($1) }
    write(access.overtakes.sorted()) { $0.write($1) }
    write(access.parkedOn) { $0.write($1) }
    write(access.armedTimer) { $0.write($1.rawValue) }
    write(access.negotiations.filter { $0.outstanding != nil }) {
      $0.write($1.presenter)
      $0.write($1.outstanding) { $0.write($1) }
      $0.write($1.remaining.kinds) { $0.write($1) }
    }
    write(access.isWaiting ? access.negotiations : []) { $0.write($1.presenter) }
    write(access.absentPresenters) { $0.write($1) }
    write(access.debts) {
      $0.write($1.message)
      $0.write($1.presenter)
    }
  }

  private mutating func write(_ presenter: FileAccessArbiter.Presenter, in arbiter: FileAccessArbiter) {
    write(presenter.id)
    write(presenter.node) { $0.write(arbiter.tree.path(of: $1)) }
    write(presenter.running) { $0.write($1) }
    write(presenter.returned) { $0.write($1) }
    write(presenter.pending) { $0.write($1) }
    write(flags: presenter.isRemoved)
    write(Int(presenter.callbacks.presumed.rawValue))
    write(Int(presenter.callbacks.intersection(.all).rawValue))
  }

  private mutating func write(_ message: Message, in arbiter: FileAccessArbiter) {
    write(message.id)
    write(message.kind)
    write(message.presenter)
    write(
      flags: message.state != .pending, message.state == .returned, message.state == .running(isReentrant: true),
      message.hasBegun, message.origin.wasPassedOver)
    write(message.origin.access) { $0.write($1) }
    write(message.awaitingAccess) { $0.write($1) }
    write(message.children) { $0.write($1) }
    write(arbiter.ownAccesses(since: message)) { $0.write($1) }
  }
}

// MARK: - Kinds

extension StateWriter {
  private mutating func write(_ phase: FileAccessArbiter.Access.Phase) {
    switch phase {
    case .waiting: write(0)
    case .asking: write(1)
    case .ready: write(2)
    case .granted: write(3)
    }
  }

  private mutating func write(_ access: ItemAccess) {
    switch access {
    case .read(let withoutChanges): write(withoutChanges ? 1 : 0)
    case .readAll(let withoutChanges): write(withoutChanges ? 3 : 2)
    case .write(let intent):
      write(4)
      write(intent.rawValue)
    case .delegated(let forWriting): write(forWriting ? 6 : 5)
    }
  }

  private mutating func write(_ kind: Message.Kind) {
    write(kind.callbackName)
    switch kind {
    case .relinquishToReader, .relinquishToWriter, .saveChanges, .accommodateDeletion, .accommodateEviction,
      .itemDidChange:
      break
    case .accommodateSubitemDeletion(let path), .itemDidMove(let path), .subitemDidAppear(let path),
      .subitemDidChange(let path):
      write(path)
    case .reacquire(let message): write(message)
    case .itemDidChangeUbiquityAttributes(let names): write(names) { $0.write($1) }
    case .itemVersion(let change, let version):
      write(change.rawValue)
      write(version)
    case .subitemDidMove(let old, let new):
      write(old)
      write(new)
    case .subitemVersion(let path, let change, let version):
      write(path)
      write(change.rawValue)
      write(version)
    }
  }
}

// MARK: - The environment

extension StateWriter {
  mutating func write(_ worker: Simulation.Worker) {
    write(worker.name)
    write(worker.awaited) { $0.write($1.id) }
    write(worker.frames) {
      $0.write($1.next)
      $0.write($1.access) { $0.write($1) }
      $0.write($1.turn) { $0.write($1) }
    }
    write(worker.awaitedTurn) { $0.write($1) }
    write(flags: worker.isElsewhere, worker.later == nil)
    write(worker.message) { $0.write($1) }
    write(worker.context) { $0.write($1) }
  }
}
