internal import CoordinationService
internal import FileAccessArbiter

// The limits of one process in a domain of several processes: a call beyond them fails, and nothing else suffers from
// it.

extension ArbiterHost.State {
  /// The reason why this process may neither request nor register anything more.
  ///
  /// - Parameter nestingDepth: How many accessors and callbacks the call is made in.
  /// - Returns: The error of the call; `nil` if there's room.
  func excess(nestingDepth: Int = 0) -> FileCoordinationError? {
    guard let limits = decider.limits else { return nil }
    if nestingDepth > limits.nestingDepthMax { return .nestedTooDeep(nestingDepth, limits.nestingDepthMax) }
    return decider.isFull ? .tooManyParties(limits.partyCountMax) : nil
  }
}

// MARK: - Purposes

/// A purpose that has a name, in use as long as this object exists.
final class NamedPurpose: Sendable {
  let id: PurposeID
  init(_ id: PurposeID) { self.id = id }
}

/// The purposes that have names, by them.
struct PurposeTable {
  private struct Entry {
    let id: PurposeID
    weak var purpose: NamedPurpose?
  }

  private var entries: [String: Entry] = [:]
  private var names: [PurposeID: String] = [:]
  /// How many there were when the unused ones were last forgotten.
  private var countAtPurge = 0

  var count: Int { entries.count }

  /// All of them in the order in which they were named first.
  var named: [(id: PurposeID, name: String)] { names.sorted { $0.key < $1.key }.map { (id: $0.key, name: $0.value) } }

  /// Whether it's time to forget the unused ones.
  var isPurgeDue: Bool { count >= 2 * countAtPurge + 64 }

  func name(of id: PurposeID) -> String? { names[id] }

  /// The purpose of a recorded name.
  mutating func purpose(named name: String) -> NamedPurpose? {
    guard let entry = entries[name] else { return nil }
    if let purpose = entry.purpose { return purpose }
    let purpose = NamedPurpose(entry.id)
    entries[name]?.purpose = purpose
    return purpose
  }

  mutating func add(_ id: PurposeID, named name: String) -> NamedPurpose {
    let purpose = NamedPurpose(id)
    entries[name] = Entry(id: id, purpose: purpose)
    names[id] = name
    return purpose
  }

  /// Forgets purposes that no object keeps and that no access or message has.
  ///
  /// - Parameter used: Purposes of accesses and messages.
  /// - Returns: Those that are forgotten.
  mutating func purge(except used: Set<PurposeID>) -> [PurposeID] {
    let unused = entries.filter { $0.value.purpose == nil && !used.contains($0.value.id) }
    for (name, entry) in unused {
      entries[name] = nil
      names[entry.id] = nil
    }
    countAtPurge = count
    return unused.map(\.value.id).sorted()
  }
}

extension ArbiterHost {
  /// The purpose of a chosen name.
  ///
  /// Equal names are one purpose.
  func purpose(named name: String) throws(FileCoordinationError) -> NamedPurpose {
    let result = withState { state -> Result<NamedPurpose, FileCoordinationError> in
      if let existing = state.purposes.purpose(named: name) { return .success(existing) }
      let limit = state.decider.limits?.purposeCountMax ?? .max
      if state.purposes.isPurgeDue || state.purposes.count >= limit { purgePurposes(&state) }
      if state.purposes.count >= limit { return .failure(.tooManyPurposes(limit)) }
      let purpose = state.purposes.add(state.newPurpose(), named: name)
      carryOut(state.decider.tellClient { $0.purposeNamed(purpose.id, name) }, &state, at: 0)
      return .success(purpose)
    }
    return try result.get()
  }

  private func purgePurposes(_ state: inout State) {
    for purpose in state.purposes.purge(except: state.decider.purposesInUse) {
      carryOut(state.decider.tellClient { $0.purposeForgotten(purpose) }, &state, at: 0)
    }
  }
}
