internal import MetadataPredicates
internal import SystemInterface
internal import FileWatching

/// The attributes that the providers of a scope give, as its engine and its items see them.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | the engine's thread uses it, but anybody may have the snapshots that it's part of |
final class ProvidedAttributes: Sendable {
  /// A file to look into.
  struct Want: Hashable, Sendable {
    let number: FileNumber
    let version: FileVersion
    let provider: AttributeProvider
  }

  private struct State: Sendable {
    var wants: Set<Want> = []
    var missCount = 0
    /// The values that have come since the last evaluation, which the provider may have forgotten by now.
    var arrived: [Want: [String: MetadataValue]] = [:]
  }

  private let providers: [String: [AttributeProvider]]
  private let state = Guarded(State())

  /// - Parameter providers: The providers; the first that gives an attribute and is asked about a file counts.
  init(_ providers: [AttributeProvider]) {
    var table: [String: [AttributeProvider]] = [:]
    for provider in providers {
      for name in Set(provider.attributes) { table[name, default: []].append(provider) }
    }
    self.providers = table
  }

  var names: [String] { Array(providers.keys) }

  private func provider(of name: String, _ number: FileNumber, _ table: FileTable) -> AttributeProvider? {
    let facts = table.facts(of: number)
    return providers[name]?.first { $0.concerns(facts, named: table.name(of: number).description) }
  }

  // MARK: For the engine

  /// How often a value wasn't known yet.
  var missCount: Int { state.withLock { $0.missCount } }

  /// The value of an attribute if it's known; otherwise `.null`, and the file is requested.
  func value(of name: String, for number: FileNumber, _ table: FileTable) -> MetadataValue {
    guard let provider = provider(of: name, number, table) else { return .null }
    guard let facts = table.knownFacts(of: number) else { return .null }
    let want = Want(number: number, version: FileVersion(facts), provider: provider)
    let arrived = state.withLock { $0.arrived[want] }
    if let values = arrived ?? provider.remembered(want.version) { return values[name] ?? .null }
    state.withLock { state in
      state.wants.insert(want)
      state.missCount += 1
    }
    return .null
  }

  /// Takes the files that are to be looked into.
  func takeWants() -> Set<Want> {
    state.withLock { state in
      defer { state.wants = [] }
      return state.wants
    }
  }

  /// Values have come, for the evaluation that follows.
  func note(_ values: [String: MetadataValue], of want: Want) { state.withLock { $0.arrived[want] = values } }

  /// The evaluation is over.
  func forgetArrivals() { state.withLock { $0.arrived = [:] } }

  // MARK: For items

  /// The value of an attribute; looks into the file if that hasn't been done.
  func currentValue(of name: String, for number: FileNumber, _ table: FileTable) -> MetadataValue {
    guard let provider = provider(of: name, number, table) else { return .null }
    guard let facts = table.knownFacts(of: number) else { return .null }
    return provider.values(of: FileVersion(facts), at: table.path(of: number))?[name] ?? .null
  }
}
