package import FileAccessArbiter

// Processes that belong to an access of another process. That one draws a token for its access, and passes it on in the
// environment of its children; a child names it in its hello. All requests of the child are nested in the access then.

extension ServiceCore {
  /// The outer access of a process, by its hello.
  enum Outer: Hashable, Sendable {
    case nothing
    case access(AccessID)
    /// An access that has ended, or that no process has reported.
    case ended
  }

  func outer(of client: ClientID) -> Outer {
    guard let token = clients[client]?.hello?.outerAccess else { return .nothing }
    guard let access = tokens[token], arbiter.phase(of: access) == .granted else { return .ended }
    return .access(access)
  }

  /// Lets processes that name a token belong to an access until it ends.
  ///
  /// - Returns: Whether the access is held.
  mutating func share(_ id: AccessID, _ token: AccessToken, by client: ClientID) throws(Malformed) -> Bool {
    let access = try Self.global(id, client)
    guard arbiter.phase(of: access) == .granted else { return false }
    if tokens[token] ?? access != access || sharedAccesses[access] ?? token != token {
      throw Malformed("it names \(id) by a second token, or by that of another access")
    }
    tokens[token] = access
    sharedAccesses[access] = token
    clients[client]?.isParent = true
    return true
  }

  /// The access is about to end: processes that belong to it get nothing more.
  ///
  /// Their waiting requests aren't granted either: they would be without the protection that they rely on.
  mutating func endSharing(of access: AccessID, at time: Timestamp) {
    guard let token = sharedAccesses.removeValue(forKey: access) else { return }
    tokens[token] = nil
    let children = clients.filter { $0.value.hello?.outerAccess == token }.keys
    if children.isEmpty || has(.outlivedRequestsKept) { return }
    carryOut(arbiter.outerAccessEnds(for: Set(children), at: time), at: time)
  }

  /// The accesses of a process are about to end.
  mutating func endSharing(by client: ClientID, at time: Timestamp) {
    let accesses = sharedAccesses.keys.filter { Self.owner(of: $0.rawValue) == client }
    for access in accesses.sorted() { endSharing(of: access, at: time) }
  }
}

// MARK: - Numbers

extension ServiceCore {
  /// Whether a number may be that of a new client: nobody has it, and it names nothing around the accesses of others.
  package func mayConnect(_ id: ClientID) -> Bool { clients[id] == nil && !formerParents.contains(id) }

  /// The accesses of a client end in the same event, and some that are nested in them may not.
  mutating func noteFormerParent(_ id: ClientID) {
    formerParents.insert(id)
    if formerParents.count <= 2 * formerParentCountAtPurge + 64 { return }
    let parents = Set(arbiter.accessesAround.map { Self.owner(of: $0.rawValue) })
    formerParents.formIntersection(parents.union([id]))
    formerParentCountAtPurge = formerParents.count
  }
}

// MARK: - Requests of such a process

extension ServiceCore {
  /// - Returns: The request inside of the access that the process belongs to; `nil` if it has failed.
  mutating func nested(
    _ id: AccessID, _ request: AccessRequest, of client: ClientID
  ) throws(Malformed) -> AccessRequest? {
    let outer = outer(of: client)
    if outer == .nothing { return try checked(request, of: client) }
    if outer == .ended, !has(.endedOuterIgnored) {
      send(.failed(Self.local(id), .outerAccessEnded, explanation: nil), to: client)
      return nil
    }
    // A process can't know how deep it's nested in others, so this is an error of its call.
    if try nestingDepth(of: request, of: client, in: outer) >= Self.nestingDepthMax {
      send(.failed(Self.local(id), .nestedTooDeep(limit: Self.nestingDepthMax), explanation: nil), to: client)
      return nil
    }
    return inside(outer, try checked(request, of: client))
  }

  /// The same request in the surroundings of its process.
  ///
  /// The presenter for which the outer access is made is neither asked nor notified about it: its own hook made the request.
  func inside(_ outer: Outer, _ request: AccessRequest) -> AccessRequest {
    guard case .access(let access) = outer else { return request }
    var request = request
    if request.context == nil {
      request.context = .access(access)
      // The access around the process ends after it: that's why it was shared.
      request.isAwaitedByContext = true
    }
    if request.ownPresenter == nil { request.ownPresenter = arbiter.ownPresenter(of: access) }
    return request
  }

  /// How many accesses and callbacks are around a request.
  private func nestingDepth(
    of request: AccessRequest, of client: ClientID, in outer: Outer
  ) throws(Malformed) -> Int {
    var context: AccessID?
    if case .access(let id) = request.context { context = try Self.global(id, client) }
    if context.map({ arbiter.phase(of: $0) != .granted }) ?? true {
      if case .access(let access) = outer { context = access }
    }
    return context.map { arbiter.nestingDepth(of: $0) } ?? 0
  }
}

// MARK: - After a service

extension ServiceCore {
  /// Keeps the report of a process that belongs to an access until that access has been reported: the nested ones have to
  /// be entered inside of it.
  ///
  /// - Returns: Whether it's kept.
  mutating func keepsNestedReport(_ frame: ClientFrame, of client: ClientID, at time: Timestamp) -> Bool {
    guard grace != nil, clients[client]?.reportsAlone == false, outer(of: client) == .ended,
      !has(.nestedReportedFirst)
    else { return false }
    switch frame {
    case .reasserted, .reassertionEnded: break
    default: return false
    }
    grace?.nestedReports[client, default: []].append(frame)
    if case .reassertionEnded = frame { takeOrphanedReports(at: time) }
    return true
  }

  /// An access has got its token back: takes in what processes have reported that belong to it.
  mutating func takeNestedReports(at time: Timestamp) {
    while let client = grace?.nestedReports.keys.sorted().first(where: { outer(of: $0) != .ended }) {
      takeReport(of: client, at: time)
    }
  }

  /// If nothing else is to be expected, the accesses have ended that these processes belong to.
  ///
  /// They keep the items that they hold, without an outer access.
  mutating func takeOrphanedReports(at time: Timestamp) {
    while let grace, !grace.nestedReports.isEmpty,
      grace.expected.isSubset(of: grace.nestedReports.keys.compactMap { clients[$0]?.session }),
      grace.nestedReports.values.allSatisfy({ $0.last == .reassertionEnded }), let client = outermostReporter
    {
      takeReportAlone(of: client, at: time)
    }
  }

  /// The grace is over.
  mutating func takeAllNestedReports(at time: Timestamp) {
    while let client = outermostReporter { takeReportAlone(of: client, at: time) }
  }

  private mutating func takeReportAlone(of client: ClientID, at time: Timestamp) {
    clients[client]?.reportsAlone = true
    takeReport(of: client, at: time)
    takeNestedReports(at: time)
  }

  private mutating func takeReport(of client: ClientID, at time: Timestamp) {
    for frame in grace?.nestedReports.removeValue(forKey: client) ?? [] {
      effects += received(frame, from: client, at: time)
    }
  }

  /// A process that doesn't belong to an access of another one whose report is kept.
  ///
  /// Processes that say to belong to each other can't be: then any of them will do.
  private var outermostReporter: ClientID? {
    guard let reports = grace?.nestedReports, !reports.isEmpty else { return nil }
    var tokens: Set<AccessToken> = []
    for case .reasserted(.token(_, let token)) in reports.values.joined() { tokens.insert(token) }
    let clients = reports.keys.sorted()
    return clients.first { id in
      self.clients[id]?.hello?.outerAccess.map { !tokens.contains($0) } ?? true
    } ?? clients.first
  }
}
