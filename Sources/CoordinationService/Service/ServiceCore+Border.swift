internal import FileAccessArbiter

// Between a process's numbers and the arbiter's. A number of the arbiter names the client in its upper bits, so that there is
// no table to keep, and no number of one process ever stands for something of another.

extension ServiceCore {
  private static let localBitCount: UInt64 = 40
  package static let localNumberEnd: UInt64 = 1 << localBitCount

  static func owner(of number: UInt64) -> ClientID { ClientID(number >> localBitCount) }

  private static func local(_ number: UInt64) -> UInt64 { number & (localNumberEnd - 1) }

  static func local(_ id: AccessID) -> AccessID { AccessID(local(id.rawValue)) }
  static func local(_ id: PresenterID) -> PresenterID { PresenterID(local(id.rawValue)) }

  private static func global(_ number: UInt64, _ client: ClientID) throws(Malformed) -> UInt64 {
    if number >= localNumberEnd { throw Malformed("the number \(number) is too large") }
    return client.rawValue << localBitCount | number
  }

  static func global(_ id: AccessID, _ client: ClientID) throws(Malformed) -> AccessID {
    AccessID(try global(id.rawValue, client))
  }

  static func global(_ id: PresenterID, _ client: ClientID) throws(Malformed) -> PresenterID {
    PresenterID(try global(id.rawValue, client))
  }

  func global(_ purpose: PurposeID, _ client: ClientID) throws(Malformed) -> PurposeID {
    if let named = clients[client]?.purposes[purpose] { return named }
    return PurposeID(try Self.global(purpose.rawValue, client))
  }

  /// A purpose that the service itself has: client zero is no process.
  mutating func namePurpose(_ purpose: PurposeID, _ name: String, of client: ClientID) throws(Malformed) {
    let count = clients[client].map { $0.purposes.count - $0.leavingPurposes.count } ?? 0
    if count >= Self.purposeCountMax { throw Malformed("it names too many purposes") }
    let known = purposeIDs[name] ?? newPurpose()
    purposeIDs[name] = known
    purposeNames[known] = name
    clients[client]?.purposes[purpose] = known
  }

  /// A process doesn't use a purpose any more that it has named.
  mutating func forgetPurpose(_ purpose: PurposeID, of client: ClientID) {
    clients[client]?.purposes[purpose] = nil
    clients[client]?.leavingPurposes.remove(purpose)
  }

  /// Frames that are held back until the grace is over may have the purpose, but it doesn't count any more.
  mutating func noteLeavingPurpose(_ purpose: PurposeID, of client: ClientID) {
    if clients[client]?.purposes[purpose] != nil { clients[client]?.leavingPurposes.insert(purpose) }
  }

  /// Forgets unused names, each time their number has doubled.
  private mutating func newPurpose() -> PurposeID {
    if purposeIDs.count > 2 * purposeCountAtPurge + 1024 {
      let used = Set(clients.values.lazy.flatMap(\.purposes.values)).union(arbiter.purposesInUse)
      purposeIDs = purposeIDs.filter { used.contains($0.value) }
      purposeNames = purposeNames.filter { used.contains($0.key) }
      purposeCountAtPurge = purposeIDs.count
    }
    lastPurpose += 1
    return PurposeID(lastPurpose)
  }

  func name(of purpose: PurposeID) -> String {
    if let name = purposeNames[purpose] { return name }
    let process = clients[Self.owner(of: purpose.rawValue)]?.processIdentifier ?? 0
    return "file-coordination.\(process).\(Self.local(purpose.rawValue))"
  }
}

// MARK: - Frames of a process

extension ServiceCore {
  func checked(_ request: AccessRequest, of client: ClientID) throws(Malformed) -> AccessRequest {
    if request.items.isEmpty { throw Malformed("a request names no item") }
    var result = request
    result.client = client
    result.purpose = try global(request.purpose, client)
    result.ownPresenter = nil
    if let own = request.ownPresenter { result.ownPresenter = try Self.global(own, client) }
    let surroundings = try checked(request.context, of: client)
    result.context = surroundings.context
    if !surroundings.isAwaitedByContext { result.isAwaitedByContext = false }
    result.presenterAround = surroundings.ownPresenter
    if let around = request.presenterAround { result.presenterAround = try Self.global(around, client) }
    for item in request.items {
      if case .delegated = item.access { throw Malformed("it requests a delegation of '\(item.path)'") }
    }
    return result
  }

  private func checked(_ context: ExecutionContext?, of client: ClientID) throws(Malformed) -> Surroundings {
    switch context {
    case nil: return Surroundings()
    case .access(let id):
      let outer = try Self.global(id, client)
      // One that's still to come, or waits, isn't around anything yet.
      guard arbiter.phase(of: outer) == .granted else { return surroundings(ofLost: outer, client) }
      if arbiter.nestingDepth(of: outer) >= Self.nestingDepthMax {
        throw Malformed("it nests accesses more than \(Self.nestingDepthMax) deep")
      }
      return Surroundings(context: .access(outer))
    case .message(let id):
      if has(.contextOfReportedForgotten), arbiter.recipient(of: id) == nil { return Surroundings() }
      return Surroundings(context: try message(id, of: client).map { .message($0) })
    }
  }

  /// The surroundings of an access that isn't in the arbiter any more because it's lost.
  private func surroundings(ofLost id: AccessID, _ client: ClientID) -> Surroundings {
    guard let around = clients[client]?.lost[id] else { return Surroundings() }
    let lasts =
      switch around.context {
      case .access(let outer): arbiter.phase(of: outer) == .granted
      case .message(let message): arbiter.recipient(of: message) != nil
      case nil: false
      }
    return lasts ? around : Surroundings(ownPresenter: around.ownPresenter)
  }

  /// A new presenter: its number isn't in use.
  func newPresenter(_ id: PresenterID, of client: ClientID) throws(Malformed) -> PresenterID {
    let id = try Self.global(id, client)
    if arbiter.knows(id) { throw Malformed("\(Self.local(id)) registers twice") }
    try checkRoom(for: client)
    return id
  }

  /// A message that was sent before the process connected, and whose reacquirer it hasn't named yet: it would run twice.
  mutating func newDebt(_ message: MessageID, of client: ClientID) throws(Malformed) -> MessageID {
    if let client = clients[client], isOfThisConnection(message, client) {
      throw Malformed("\(message) isn't of an earlier connection, and it names its reacquirer")
    }
    if clients[client]?.restatedDebts.count ?? 0 >= partyCountMax {
      throw Malformed("it has more than \(partyCountMax) reacquirers")
    }
    if clients[client]?.restatedDebts.insert(message).inserted == false {
      throw Malformed("it names the reacquirer of \(message) twice")
    }
    return message
  }

  func isOfThisConnection(_ message: MessageID, _ client: Client) -> Bool {
    if has(.messageNumbersWrap) {
      return message.epoch << 36 | message.rawValue > client.lastMessageBefore.rawValue | epoch << 36
    }
    return message.epoch == epoch && message > client.lastMessageBefore
  }

  private func checkRoom(for client: ClientID) throws(Malformed) {
    if arbiter.partyCount(of: client) >= partyCountMax {
      throw Malformed("it has more than \(partyCountMax) accesses and presenters")
    }
  }

  func checked(_ attributes: Set<String>) throws(Malformed) -> Set<String> {
    if attributes.reduce(0, { $0 + $1.utf8.count }) > Self.attributeByteCountMax {
      throw Malformed("the names of attributes have more than \(Self.attributeByteCountMax) bytes")
    }
    return attributes
  }

  func checked(_ registration: PresenterRegistration, of client: ClientID) throws(Malformed) -> PresenterRegistration {
    var result = registration
    result.client = client
    result.purpose = try global(registration.purpose, client)
    return result
  }

  func checked(_ announcement: Announcement, of client: ClientID) throws(Malformed) -> Announcement {
    var result = announcement
    result.client = client
    result.purpose = try global(announcement.purpose, client)
    if let own = announcement.ownPresenter { result.ownPresenter = try Self.global(own, client) }
    return result
  }

  /// A new access: its number isn't in use.
  func newAccess(_ id: AccessID, of client: ClientID) throws(Malformed) -> AccessID {
    let id = try Self.global(id, client)
    if arbiter.phase(of: id) != nil || arbiter.isOutlived(id) {
      throw Malformed("\(Self.local(id)) is requested twice")
    }
    try checkRoom(for: client)
    return id
  }

  /// An access whose accessor runs.
  func heldAccess(_ id: AccessID, of client: ClientID) throws(Malformed) -> AccessID {
    let id = try Self.global(id, client)
    guard arbiter.phase(of: id) == .granted else { throw Malformed("\(Self.local(id)) isn't granted") }
    return id
  }
}
