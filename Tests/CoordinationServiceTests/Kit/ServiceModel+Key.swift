import CompactContainers
@testable import CoordinationService
@testable import FileAccessArbiter

extension ServiceModel {
  /// Equal for states that behave alike: numbers of messages and delegations are replaced by their order of mention.
  var key: Int {
    var writer = KeyWriter()
    writer.add(core)
    for client in clients { writer.add(client) }
    for frames in toService {
      writer.hasher.combine(frames.count)
      for frame in frames { writer.add(frame) }
    }
    for frames in toClients {
      writer.hasher.combine(frames.count)
      for frame in frames { writer.add(frame) }
    }
    writer.addConnections(of: self)
    writer.hasher.combine(journal)
    writer.hasher.combine([clientKills, serviceKills, graceTimeouts, cancellations, expulsions, cuts, surrenders])
    writer.hasher.combine(problems)
    return writer.hasher.finalize()
  }
}

private struct KeyWriter {
  var hasher = Hasher()
  private var messages: [MessageID: Int] = [:]
  private var delegations: [UInt64: Int] = [:]

  mutating func add(_ id: MessageID) {
    let name = messages[id] ?? messages.count
    messages[id] = name
    hasher.combine(name)
    hasher.combine(id.epoch)
  }

  mutating func addDelegation(_ number: UInt64) {
    let name = delegations[number] ?? delegations.count
    delegations[number] = name
    hasher.combine(name)
  }

  mutating func add(_ id: AccessID) {
    if id.rawValue < ServiceCore.localNumberEnd { addDelegation(id.rawValue) } else { hasher.combine(id.rawValue) }
  }

  mutating func add(_ context: ExecutionContext) {
    switch context {
    case .access(let id): add(id)
    case .message(let id): add(id)
    }
  }

  mutating func add(_ kind: Message.Kind) {
    if case .reacquire(let message) = kind { add(message) } else { hasher.combine(kind) }
  }
}

// MARK: - The service

extension KeyWriter {
  mutating func add(_ core: ServiceCore) {
    add(core.arbiter)
    hasher.combine(core.epoch)
    for (id, client) in core.clients.sorted(by: { $0.key < $1.key }) {
      hasher.combine(id)
      hasher.combine(client.hello != nil)
      hasher.combine(client.hasReasserted)
      hasher.combine(client.lost)
      hasher.combine(client.latePaths)
      hasher.combine(client.reportsAlone)
      hasher.combine(client.reportedCallbacks.count)
      for (id, message) in client.reportedCallbacks.sorted(by: { $0.value < $1.value }) {
        add(id)
        add(message)
      }
    }
    hasher.combine(core.sharedAccesses)
    for (client, frames) in (core.grace?.nestedReports ?? [:]).sorted(by: { $0.key < $1.key }) {
      hasher.combine(client)
      hasher.combine(frames.count)
      for frame in frames { add(frame) }
    }
    hasher.combine(core.usage)
    hasher.combine(core.delegations.count)
    for (access, delegation) in core.delegations.sorted(by: { $0.key < $1.key }) {
      add(access)
      hasher.combine(delegation.client)
      hasher.combine(delegation.root)
      hasher.combine(delegation.mode)
      hasher.combine(delegation.isRecalled)
    }
    hasher.combine(core.questions.count)
    for question in core.questions {
      hasher.combine(question.number)
      hasher.combine(question.client)
      for access in question.awaited.sorted() { add(access) }
    }
    hasher.combine(core.surveys.count)
    for survey in core.surveys {
      hasher.combine(survey.number)
      hasher.combine(survey.asker)
      hasher.combine(survey.askersNumber)
      hasher.combine(survey.awaited)
    }
    hasher.combine(core.grace?.expected)
    for (client, frame) in (core.grace?.movesToldAgain ?? []) + (core.grace?.heldBack ?? []) {
      hasher.combine(client)
      add(frame)
    }
    hasher.combine(core.grace?.presenters)
    for debt in core.grace?.debts ?? [] {
      hasher.combine(debt.presenter)
      add(debt.message)
      hasher.combine(debt.origin)
    }
  }

  private mutating func add(_ arbiter: FileAccessArbiter) {
    let ids = arbiter.accesses.sortedKeys.sorted { arbiter.accesses[$0].sequence < arbiter.accesses[$1].sequence }
    hasher.combine(ids.count)
    for id in ids { add(arbiter.accesses[id], in: arbiter) }
    for id in arbiter.presenters.sortedKeys {
      let presenter = arbiter.presenters[id]
      hasher.combine(id)
      hasher.combine(presenter.node.map { arbiter.tree.path(of: $0) })
      hasher.combine(presenter.isRemoved)
      hasher.combine(presenter.running.count)
      for message in presenter.running { add(message) }
      for message in presenter.pending { add(message) }
    }
    for id in arbiter.messages.sortedKeys {
      let message = arbiter.messages[id]
      add(id)
      add(message.kind)
      hasher.combine(message.presenter)
      hasher.combine(message.state)
      hasher.combine(message.origin.access)
      hasher.combine(message.awaitingAccess)
      hasher.combine(message.announcedSave == nil)
      if let save = message.announcedSave { add(save) }
    }
  }

  private mutating func add(_ access: FileAccessArbiter.Access, in arbiter: FileAccessArbiter) {
    add(access.id)
    hasher.combine(access.phase)
    hasher.combine(access.traits.rawValue)
    for index in access.items.indices {
      hasher.combine(arbiter.path(ofItem: index, of: access))
      hasher.combine(access.items[index].access)
      hasher.combine(access.items[index].marks)
    }
    hasher.combine(access.formerClaims.count)
    hasher.combine(access.lineage.count)
    for context in access.lineage { add(context) }
    for other in access.overtakes.sorted() { add(other) }
    if let other = access.parkedOn { add(other) }
    for negotiation in access.negotiations {
      hasher.combine(negotiation.presenter)
      if let message = negotiation.outstanding { add(message) }
    }
    hasher.combine(access.debts.count)
    for debt in access.debts {
      add(debt.message)
      hasher.combine(debt.presenter)
    }
  }
}

// MARK: - Clients and frames on their way

extension KeyWriter {
  mutating func addConnections(of model: ServiceModel) {
    hasher.combine(model.connections)
    hasher.combine(model.ids)
    hasher.combine(model.broken.count)
    for connection in model.broken {
      hasher.combine(connection.id)
      hasher.combine(connection.isIntroduced)
      hasher.combine(connection.frames.count)
      for frame in connection.frames { add(frame) }
    }
  }

  mutating func add(_ process: ModelProcess) {
    hasher.combine(process.isAlive)
    hasher.combine(process.isStarted)
    hasher.combine(process.hasGivenUp)
    hasher.combine(process.word)
    hasher.combine(process.threads)
    hasher.combine(process.accesses)
    hasher.combine(process.presenters)
    hasher.combine(process.callbacks.count)
    for callback in process.callbacks {
      add(callback.message)
      hasher.combine(callback.presenter)
      add(callback.kind)
      hasher.combine(callback.save)
      hasher.combine(callback.nested)
      hasher.combine(callback.nestedLeft)
      hasher.combine(callback.hasFailed)
    }
    hasher.combine(process.nestingCount)
    hasher.combine(process.callbackAccessCount)
    add(process.core)
  }

  private mutating func add(_ core: ClientCore) {
    hasher.combine(core.epoch)
    hasher.combine(core.isConnected)
    hasher.combine(core.accesses)
    hasher.combine(core.lost.count)
    for (id, around) in core.lost.sorted(by: { $0.key < $1.key }) {
      hasher.combine(id)
      hasher.combine(around.isAwaitedByContext)
      hasher.combine(around.ownPresenter)
      hasher.combine(around.context == nil)
      if let context = around.context { add(context) }
    }
    hasher.combine(core.registrations)
    hasher.combine(core.endingPresenters)
    hasher.combine(core.unknownPresenters)
    hasher.combine(core.revocation)
    for (id, delegation) in core.delegations.sorted {
      addDelegation(id.rawValue)
      hasher.combine(delegation)
    }
    hasher.combine(core.debts.count)
    for (id, debt) in core.debts.sorted(by: { $0.key < $1.key }) {
      add(id)
      hasher.combine(debt)
    }
    for id in core.reacquirers.sorted() { add(id) }
    add(core.callbacks)
    hasher.combine(core.announcements.count)
    for (id, save) in core.announcements.sorted(by: { $0.key < $1.key }) {
      add(id)
      add(save.delivery.message)
      hasher.combine(save.delivery.presenter)
      hasher.combine(save.origin)
    }
    hasher.combine(core.questions)
    hasher.combine(core.resumed)
    hasher.combine(core.backlog.count)
    for frame in core.backlog { add(frame) }
  }

  private mutating func add(_ order: CallbackOrder) {
    for (id, running) in order.running.sorted(by: { $0.value.beginning < $1.value.beginning }) {
      add(id)
      hasher.combine(running.presenter)
    }
    for (presenter, entries) in order.heldBack.sorted(by: { $0.key < $1.key }) {
      hasher.combine(presenter)
      for entry in entries { add(entry.delivery.message) }
    }
  }

  mutating func add(_ frame: ClientFrame) {
    switch frame {
    case .event(.messageAnswered(let message, let hasReacquirer)):
      hasher.combine(1)
      add(message)
      hasher.combine(hasReacquirer)
    case .event(.relinquished(let message, let hasReacquirer)):
      hasher.combine(4)
      add(message)
      hasher.combine(hasReacquirer)
    case .event(.callbackReturned(let message)):
      hasher.combine(5)
      add(message)
    case .reasserted(.debt(let presenter, let message, let origin)):
      hasher.combine(2)
      hasher.combine(presenter)
      add(message)
      hasher.combine(origin)
    case .delegationReturned(let id):
      hasher.combine(3)
      addDelegation(id.rawValue)
    default:
      hasher.combine(0)
      hasher.combine(frame)
    }
  }

  mutating func add(_ inbound: ServiceModel.Inbound) {
    switch inbound {
    case .end: hasher.combine(0)
    case .frame(.granted(let id, let grant, _)):
      hasher.combine(1)
      hasher.combine(id)
      hasher.combine(grant)
    case .frame(.delivered(let delivery, let origin)):
      hasher.combine(2)
      add(delivery.message)
      hasher.combine(delivery.presenter)
      add(delivery.kind)
      hasher.combine(delivery.above == nil)
      if let above = delivery.above { add(above) }
      hasher.combine(delivery.announcedSave == nil)
      if let save = delivery.announcedSave { add(save) }
      hasher.combine(delivery.isAhead)
      hasher.combine(origin)
    case .frame(.saveWithdrawn(let message)):
      hasher.combine(7)
      add(message)
    case .frame(.delegated(let id, let root, let mode)):
      hasher.combine(3)
      addDelegation(id.rawValue)
      hasher.combine(root)
      hasher.combine(mode)
    case .frame(.recalled(let id)):
      hasher.combine(4)
      addDelegation(id.rawValue)
    case .frame(.snapshot(let number, _)):
      hasher.combine(6)
      hasher.combine(number)
    case .frame(let frame):
      hasher.combine(5)
      hasher.combine(frame)
    }
  }
}
