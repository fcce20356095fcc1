package import FileAccessArbiter

// The rights of processes to decide alone about a directory, and their recall.

/// A right of one process to decide alone about a directory.
struct Delegation: Sendable {
  /// Its number in the arbiter, where it counts as held by the process.
  let access: AccessID
  let id: DelegationID
  let client: ClientID
  let root: ItemPath
  let mode: DelegationMode
  var isRecalled = false
}

/// Something that a process waits for until delegations have been returned.
struct OpenQuestion: Sendable {
  enum Subject: Sendable {
    /// The arbiter has the presenter already; its process is to be notified when all other processes are bound to ask
    /// it.
    case registration
    case move(Move)
    /// A process that came too late has reported everything.
    case resumption
  }

  let subject: Subject
  let number: RequestNumber
  let client: ClientID
  let askedAt: Timestamp
  var awaited: Set<AccessID>
}

struct Move: Sendable {
  let access: AccessID
  let old: ItemPath
  let new: ItemPath
  let isReplacement: Bool
}

// MARK: - Delegating

extension ServiceCore {
  /// After a process has used a directory for a while, and no other process has, it may decide alone about it.
  mutating func considerDelegation(at path: ItemPath, isWrite: Bool, to client: ClientID, at time: Timestamp) {
    // A process that belongs to an access of another one asks each time: the access may have ended.
    guard !isInGrace, surveys.isEmpty, observers.isEmpty, outer(of: client) == .nothing, let parent = path.parent
    else { return }
    let use = usage.note(parent, by: client, isWrite: isWrite)
    guard use.isEnough else { return }
    let mode: DelegationMode = use.isReadOnly ? .reading : .writing
    // If the directory is too busy, the item alone may do.
    for root in [parent, path] where mayDelegate(root, mode) {
      return delegate(root, mode, to: client, at: time)
    }
  }

  private func mayDelegate(_ root: ItemPath, _ mode: DelegationMode) -> Bool {
    arbiter.mayDelegate(root, forWriting: mode == .writing)
      && !questions.contains { question in
        guard case .move(let move) = question.subject, !has(.delegationDuringMove) else { return false }
        return [move.old, move.new].contains { $0.isSameOrContains(root) || root.isSameOrContains($0) }
      }
  }

  private mutating func delegate(_ root: ItemPath, _ mode: DelegationMode, to client: ClientID, at time: Timestamp) {
    let own = ownDelegations(of: client, around: root)
    if own.contains(where: { $0.root == root && !$0.isRecalled }) { return }
    // A number like those of grants: it's the token of everything that is granted under it.
    lastGrant += 1
    // Client zero's numbers are the service's.
    let access = AccessID(lastGrant)
    var request = AccessRequest(
      client: client, purpose: PurposeID(1 << 39 | lastGrant), label: "delegation",
      items: [AccessRequest.Item(root, .delegated(forWriting: mode == .writing))])
    request.isAwaitedByContext = false
    arbiter.delegationGranted(access, request, at: time)
    let delegation = Delegation(
      access: access, id: DelegationID(lastGrant), client: client, root: root, mode: mode)
    delegations[access] = delegation
    send(.delegated(delegation.id, root: root, mode: mode), to: client)
    clients[client]?.delegated.append(access)
    limitDelegations(of: client, at: time)
  }

  /// The delegations of a process that contain an item or lie inside it.
  private func ownDelegations(of client: ClientID, around path: ItemPath) -> [Delegation] {
    arbiter.delegations(overlapping: path).compactMap { delegations[$0] }.filter { $0.client == client }
  }

  /// A process that walks through a large tree gets one delegation after the other, and returns the oldest.
  private mutating func limitDelegations(of client: ClientID, at time: Timestamp) {
    while let count = clients[client]?.delegated.count, count > Self.delegationCountMax,
      let oldest = clients[client]?.delegated.removeFirst()
    {
      askBack(oldest, at: time)
    }
  }
}

// MARK: - Asking back

extension ServiceCore {
  /// Another process needs a delegated item.
  mutating func recall(_ access: AccessID, at time: Timestamp) {
    if let delegation = delegations[access], !delegation.isRecalled { usage.noteRecall(delegation.root) }
    askBack(access, at: time)
  }

  private mutating func askBack(_ access: AccessID, at time: Timestamp) {
    guard let delegation = delegations[access], !delegation.isRecalled else { return }
    delegations[access]?.isRecalled = true
    clients[delegation.client]?.delegated.remove(access)
    if has(.recallIgnored) { return }
    send(.recalled(delegation.id), to: delegation.client)
    if has(.delegationReturnedEarly) { returned(delegation.id, by: delegation.client, at: time) }
  }

  mutating func returned(_ id: DelegationID, by client: ClientID, at time: Timestamp) {
    let access = AccessID(id.rawValue)
    guard let delegation = delegations[access], delegation.client == client else { return }
    // The process itself asks for something that the delegation would keep waiting.
    if !delegation.isRecalled { usage.noteRecall(delegation.root) }
    forget(delegation)
    carryOut(arbiter.delegationReturned(access, at: time), at: time)
    answerQuestions(at: time)
  }

  /// - Precondition: The arbiter forgets it in the same event.
  mutating func forget(_ delegation: Delegation) {
    delegations[delegation.access] = nil
    clients[delegation.client]?.delegated.remove(delegation.access)
    for index in questions.indices { questions[index].awaited.remove(delegation.access) }
  }

  /// An access that a process granted itself is entered into the arbiter.
  mutating func adopt(
    _ id: AccessID, _ request: AccessRequest, by client: ClientID, at time: Timestamp
  ) throws(Malformed) {
    guard let own = delegations(covering: request, of: client) else {
      throw Malformed("\(Self.local(id)) was granted without a right to do so")
    }
    if !arbiter.accessAdopted(id, request, under: Set(own.map(\.access)), at: time) {
      throw Malformed("\(Self.local(id)) was granted against another access")
    }
  }
}

// MARK: - Requests under delegations

extension ServiceCore {
  /// Grants an access that a process requested before it learned of the delegation that covers it.
  ///
  /// Nothing has to be recalled for that: a process returns by itself the delegations that are in the way of its
  /// requests. So a request that comes while a delegation lasts was under way before, and the process grants itself
  /// nothing beside it, see `DelegationTable`.
  ///
  /// - Returns: Whether it's granted.
  mutating func grantUnderDelegation(
    _ id: AccessID, _ request: AccessRequest, of client: ClientID, at time: Timestamp
  ) -> Bool {
    if delegations.isEmpty { return false }
    guard let own = delegations(covering: request, of: client), !own.contains(where: \.isRecalled),
      arbiter.accessAdopted(id, request, under: Set(own.map(\.access)), at: time)
    else { return false }
    // With the number of the delegation, like all that the process grants itself there: numbers of an item never
    // decrease.
    let number = own.map(\.id.rawValue).max() ?? lastGrant
    sendGrant(id, Grant(), FencingToken(epoch: epoch, sequence: number))
    return true
  }

  /// The delegations of a process that contain the items of a request or lie inside them, if it may grant itself the
  /// request.
  private func delegations(covering request: AccessRequest, of client: ClientID) -> [Delegation]? {
    if request.ownPresenter != nil || request.isPreparation { return nil }
    var own: [Delegation] = []
    for item in request.items {
      let around = ownDelegations(of: client, around: item.path)
      let isCovered = around.contains {
        $0.root.isSameOrContains(item.path) && (!item.access.isWrite || $0.mode == .writing)
      }
      if !isCovered || !item.access.isPlain { return nil }
      own += around
    }
    return own
  }
}

// MARK: - Questions that wait for it

extension ServiceCore {
  /// Answers a question as soon as no process decides alone about these items any more.
  mutating func ask(
    _ subject: OpenQuestion.Subject, _ number: RequestNumber, _ client: ClientID, about paths: [ItemPath],
    at time: Timestamp
  ) {
    var awaited: Set<AccessID> = []
    for path in paths { awaited.formUnion(arbiter.delegations(overlapping: path)) }
    if has(.registrationAnsweredEarly), case .registration = subject { awaited = [] }
    if has(.moveBeforeRecall), case .move = subject { awaited = [] }
    questions.append(OpenQuestion(subject: subject, number: number, client: client, askedAt: time, awaited: awaited))
    for delegation in awaited.sorted() { recall(delegation, at: time) }
    answerQuestions(at: time)
  }

  private mutating func tellEverybody(_ frame: ServerFrame) {
    for id in clients.keys.sorted() where clients[id]?.hello != nil { send(frame, to: id) }
  }

  mutating func answerQuestions(at time: Timestamp) {
    while let index = questions.firstIndex(where: { $0.awaited.isEmpty }) {
      let question = questions.remove(at: index)
      switch question.subject {
      case .registration: send(.answered(question.number, true), to: question.client)
      case .resumption: send(.graceEnded, to: question.client)
      case .move(let move):
        // A longer path couldn't be sent to any process.
        let isCovered =
          arbiter.mayAnnounceMove(move.access, from: move.old, to: move.new)
          && arbiter.longestPathByteCount(afterMovingFrom: move.old, to: move.new) <= WireFormat.pathByteCountMax
        if isCovered {
          carryOut(
            arbiter.itemMoved(
              by: move.access, from: move.old, to: move.new, replaced: move.isReplacement, at: time), at: time)
          tellEverybody(.moved(from: move.old, to: move.new))
        }
        send(.answered(question.number, isCovered), to: question.client)
      }
    }
  }
}

// MARK: - Surveys

/// A snapshot that waits until every process has reported the accesses that it granted itself.
struct Survey: Sendable {
  let number: RequestNumber
  let asker: ClientID
  let askersNumber: RequestNumber
  var awaited: Set<ClientID>
}

extension ServiceCore {
  mutating func survey(for client: ClientID, _ number: RequestNumber, at time: Timestamp) {
    let holders = Set(delegations.values.map(\.client))
    lastSurvey += 1
    let survey = Survey(
      number: RequestNumber(lastSurvey), asker: client, askersNumber: number, awaited: holders)
    // Those that were begun before wait for somebody still; to look through them for each request would cost a service whose clients
    // ask without end the square of their number.
    if holders.isEmpty { return finish(survey, at: time) }
    surveys.append(survey)
    for holder in holders.sorted() { send(.survey(survey.number), to: holder) }
  }

  /// Shows a process the state after each event from now on, or not any more.
  mutating func observe(_ isWanted: Bool, by client: ClientID, at time: Timestamp) {
    if !isWanted {
      observers.remove(client)
      return
    }
    observers.insert(client)
    for delegation in delegations.keys.sorted() { recall(delegation, at: time) }
  }

  mutating func showObservers(at time: Timestamp) {
    if observers.isEmpty { return }
    let snapshot = snapshot(at: time)
    for observer in observers.sorted() { send(.observed(snapshot), to: observer) }
  }

  mutating func surveyed(_ number: RequestNumber, by client: ClientID, at time: Timestamp) {
    // A process answers in the order in which it was asked: it's among the first.
    guard let index = surveys.firstIndex(where: { $0.number == number }) else { return }
    surveys[index].awaited.remove(client)
    if surveys[index].awaited.isEmpty { finish(surveys.remove(at: index), at: time) }
  }

  mutating func finishSurveys(without client: ClientID, at time: Timestamp) {
    for index in surveys.indices { surveys[index].awaited.remove(client) }
    finishSurveys(at: time)
  }

  /// Some process doesn't answer: the askers are shown the incomplete state.
  package mutating func surveysAreLate(at time: Timestamp) -> [ServiceEffect] {
    for index in surveys.indices { surveys[index].awaited = [] }
    finishSurveys(at: time)
    return takeEffects(at: time)
  }

  package var hasSurveys: Bool { !surveys.isEmpty }

  private mutating func finishSurveys(at time: Timestamp) {
    let finished = surveys.filter { $0.awaited.isEmpty }
    if finished.isEmpty { return }
    surveys.removeAll { $0.awaited.isEmpty }
    for survey in finished { finish(survey, at: time) }
  }

  private mutating func finish(_ survey: Survey, at time: Timestamp) {
    send(.snapshot(survey.askersNumber, snapshot(at: time)), to: survey.asker)
  }

  private func snapshot(at time: Timestamp) -> SnapshotReply {
    let processes = clients.sorted { $0.key < $1.key }.filter { $0.value.hello != nil }.map { id, client in
      SnapshotReply.Process(
        processIdentifier: client.processIdentifier, name: client.hello?.processName ?? "",
        isService: client.processIdentifier == processIdentifier,
        delegations: delegations.values.filter { $0.client == id }.sorted { $0.id < $1.id }.map(\.root))
    }
    var snapshot = arbiter.snapshot(at: time)
    // They're listed with the processes that have them: a delegation alone accesses nothing.
    snapshot.accesses.removeAll { delegations[$0.summary.id] != nil }
    return SnapshotReply(arbiter: snapshot, processes: processes, epoch: epoch, isInGrace: isInGrace)
  }
}
