internal import CompactContainers
internal import FileAccessArbiter

/// The registered presenters of a host, by number and by address.
///
/// Eight bytes for each place, where a dictionary takes sixteen: there may be a million presenters.
struct PresenterTable {
  private var byNumber = ProbingTable<PresenterRecord>()
  private var byAddress = ProbingTable<PresenterRecord>()

  /// In order of registration, those that are ending excepted.
  var registered: [PresenterRecord] { byAddress.elements.sorted { $0.id < $1.id } }

  /// How many there are: registered, or ending.
  var count: Int { byNumber.count }

  /// Those that have been unregistered and may still run callbacks, or be owed reacquirers.
  var ending: [PresenterRecord] { byNumber.elements.filter { self[$0.key] !== $0 } }

  subscript(id: PresenterID) -> PresenterRecord? { byNumber.first(withHash: Self.hash(id)) { $0.id == id } }

  /// The presenter that was registered last at an address and hasn't been unregistered.
  subscript(address: ObjectIdentifier) -> PresenterRecord? {
    byAddress.first(withHash: Self.hash(address)) { $0.key == address }
  }

  /// Enters a registration, which takes the place of an earlier one at its address.
  mutating func insert(_ record: PresenterRecord) {
    if let earlier = self[record.key] { forgetAddress(of: earlier) }
    byNumber.insert(record, hash: Self.hash(record.id)) { Self.hash($0.id) }
    byAddress.insert(record, hash: Self.hash(record.key)) { Self.hash($0.key) }
  }

  /// A presenter that unregisters stays in the table by its number until its last callback and reacquirer are done.
  mutating func unregister(_ record: PresenterRecord) {
    if self[record.key] === record { forgetAddress(of: record) }
  }

  mutating func forget(_ id: PresenterID) -> PresenterRecord? {
    guard let record = self[id] else { return nil }
    byNumber.remove(withHash: Self.hash(id), where: { $0 === record }, hashOf: { Self.hash($0.id) })
    return record
  }

  private mutating func forgetAddress(of record: PresenterRecord) {
    byAddress.remove(withHash: Self.hash(record.key), where: { $0 === record }, hashOf: { Self.hash($0.key) })
  }

  private static func hash(_ id: PresenterID) -> UInt64 { id.rawValue }

  private static func hash(_ address: ObjectIdentifier) -> UInt64 {
    // Objects lie at multiples of 16.
    UInt64(UInt(bitPattern: address)) >> 4
  }
}
