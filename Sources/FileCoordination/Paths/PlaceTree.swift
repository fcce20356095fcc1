internal import FileWatching
internal import SystemInterface

/// The places that are known, kept current: a ``PlaceCore``, and the hands that carry its orders out.
///
/// Not shared: a ``ResolutionCache`` guards it, also across system calls.
struct PlaceTree: Sendable {
  private var core: PlaceCore
  private var hands: PlaceHands

  init(_ core: PlaceCore, _ hands: PlaceHands) {
    self.core = core
    self.hands = hands
  }

  var placeCount: Int { core.places.count }
  var watchCount: Int { core.watched.count }

  /// The place that a spelled path leads to, if that's recorded and still holds, and its record.
  func knownPlace(at spelled: SystemPath) -> (place: Place, record: ResolutionValidity)? {
    guard let place = core.place(at: spelled), let record = hands.records[place.id], record.isKept else { return nil }
    return (place, record)
  }

  /// The place that a spelled path leads to, from the records or by looking names up.
  ///
  /// - Parameter spelled: An absolute path without `.` and spare slashes.
  /// - Returns: A place that wasn't stale after the changes were taken in, and its record.
  /// - Throws: ``PlaceRefusal`` when the system has to be asked instead.
  mutating func place(at spelled: SystemPath) throws(PlaceRefusal) -> (place: Place, record: ResolutionValidity) {
    if let known = knownPlace(at: spelled) {
      known.record.set(ResolutionValidity.used)
      return known
    }
    core.lookUp(spelled)
    core.carryOutOrders(by: &hands)
    guard let answer = core.takeAnswer() else { preconditionFailure("no answer for \(spelled)") }
    let place = try answer.get()
    guard let record = hands.records[place.id] else { preconditionFailure("no record of \(place)") }
    return (place, record)
  }

  /// Takes in all changes so far; afterwards everything that they concern is marked.
  mutating func absorbChanges() {
    core.absorbChanges()
    core.carryOutOrders(by: &hands)
  }
}
