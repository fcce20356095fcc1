internal import FileAccessArbiter

/// The registered presenters of a host, by number and by address.
///
/// Eight bytes for each place, where a dictionary takes sixteen: there may be a million presenters.
struct PresenterTable {
  private var byNumber = RecordIndex { $0.id.rawValue }
  private var byAddress = RecordIndex(hash: Self.hash)

  /// In order of registration, those that are ending excepted.
  var registered: [PresenterRecord] { byAddress.records.sorted { $0.id < $1.id } }

  /// How many are known: registered, or ending.
  var count: Int { byNumber.count }

  /// Those that have been unregistered and may still run callbacks, or be owed reacquirers.
  var ending: [PresenterRecord] { byNumber.records.filter { self[$0.key] !== $0 } }

  subscript(id: PresenterID) -> PresenterRecord? { byNumber.first(id.rawValue) { $0.id == id } }

  /// What was registered last at an address and hasn't been unregistered.
  subscript(address: ObjectIdentifier) -> PresenterRecord? {
    byAddress.first(Self.hash(address)) { $0.key == address }
  }

  /// Enters a registration, which takes the place of an earlier one at its address.
  mutating func insert(_ record: PresenterRecord) {
    if let earlier = self[record.key] { byAddress.remove(earlier) }
    byNumber.insert(record)
    byAddress.insert(record)
  }

  /// A presenter that unregisters is known by its number until all is said and done.
  mutating func unregister(_ record: PresenterRecord) {
    if self[record.key] === record { byAddress.remove(record) }
  }

  mutating func forget(_ id: PresenterID) -> PresenterRecord? {
    guard let record = self[id] else { return nil }
    byNumber.remove(record)
    return record
  }

  private static func hash(_ record: PresenterRecord) -> UInt64 { hash(record.key) }

  private static func hash(_ address: ObjectIdentifier) -> UInt64 {
    // Objects lie at multiples of 16.
    UInt64(UInt(bitPattern: address)) >> 4
  }
}

/// A hash table with linear probing over records that know their own key.
private struct RecordIndex {
  private static let countMin = 16

  private let hash: @Sendable (PresenterRecord) -> UInt64
  private var places = [PresenterRecord?](repeating: nil, count: countMin)
  private(set) var count = 0

  init(hash: @escaping @Sendable (PresenterRecord) -> UInt64) { self.hash = hash }

  var records: [PresenterRecord] { places.compactMap(\.self) }

  func first(_ hash: UInt64, where isWanted: (PresenterRecord) -> Bool) -> PresenterRecord? {
    var place = home(of: hash)
    while let record = places[place] {
      if isWanted(record) { return record }
      place = next(place)
    }
    return nil
  }

  mutating func insert(_ record: PresenterRecord) {
    if (count + 1) * 4 > places.count * 3 { rebuild(places.count * 2) }
    place(record)
    count += 1
  }

  mutating func remove(_ record: PresenterRecord) {
    var gap = home(of: hash(record))
    while places[gap] !== record {
      precondition(places[gap] != nil, "\(record.id) isn't there")
      gap = next(gap)
    }
    fill(gap)
    count -= 1
    if places.count > Self.countMin, count * 8 < places.count { rebuild(places.count / 2) }
  }

  /// Moves records of the same run up, so that none is cut off from its home by the gap.
  private mutating func fill(_ gap: Int) {
    var gap = gap
    var place = next(gap)
    while let record = places[place] {
      let home = home(of: hash(record))
      let mask = places.count - 1
      if (place - home) & mask >= (place - gap) & mask {
        places[gap] = record
        gap = place
      }
      place = next(place)
    }
    places[gap] = nil
  }

  private mutating func rebuild(_ size: Int) {
    let records = records
    places = Array(repeating: nil, count: size)
    for record in records { place(record) }
  }

  private mutating func place(_ record: PresenterRecord) {
    var place = home(of: hash(record))
    while places[place] != nil { place = next(place) }
    places[place] = record
  }

  private func home(of hash: UInt64) -> Int {
    let product = hash &* 0x9e37_79b9_7f4a_7c15
    return Int(truncatingIfNeeded: product ^ product >> 32) & (places.count - 1)
  }

  private func next(_ place: Int) -> Int { (place + 1) & (places.count - 1) }
}
