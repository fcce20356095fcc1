internal import CompactContainers

/// The properties that presenters of one kind have in common.
///
/// An object, so that a presenter keeps eight bytes of it.
final class PresenterProfile: Hashable, Sendable {
  let client: ClientID
  let label: String
  let callbacks: PresenterCallbacks
  let servesWhileWaiting: Bool
  let isActor: Bool

  init(_ registration: PresenterRegistration) {
    client = registration.client
    label = registration.label
    callbacks = registration.callbacks
    servesWhileWaiting = registration.servesWhileWaiting
    isActor = registration.isActor
  }

  /// The same under another label.
  init(_ profile: PresenterProfile, label: String) {
    client = profile.client
    self.label = label
    callbacks = profile.callbacks
    servesWhileWaiting = profile.servesWhileWaiting
    isActor = profile.isActor
  }

  /// The same with other callbacks.
  init(_ profile: PresenterProfile, callbacks: PresenterCallbacks) {
    client = profile.client
    label = profile.label
    self.callbacks = callbacks
    servesWhileWaiting = profile.servesWhileWaiting
    isActor = profile.isActor
  }

  static func == (left: PresenterProfile, right: PresenterProfile) -> Bool {
    left.client == right.client && left.callbacks == right.callbacks
      && left.servesWhileWaiting == right.servesWhileWaiting
      && left.isActor == right.isActor && left.label == right.label
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(client)
    hasher.combine(label)
  }
}

/// The profiles in use, each once.
struct PresenterProfiles: Sendable {
  private struct Entry: HashedElement {
    let profile: PresenterProfile
    let hash: UInt64
    var useCount: Int32 = 0
    var link: Int32 = -1
  }

  private var entries = HashedSlab<Entry>()

  /// How many different ones there are.
  var count: Int { entries.count }

  var reservedByteCount: Int { entries.reservedByteCount }

  /// The one profile of all that are equal to it; `giveBack` has to follow.
  mutating func use(_ profile: PresenterProfile) -> PresenterProfile {
    var index = find(profile)
    if index == HashedSlab<Entry>.none { index = entries.insert(Entry(profile: profile, hash: hash(of: profile))) }
    entries[index].useCount += 1
    return entries[index].profile
  }

  mutating func giveBack(_ profile: PresenterProfile) {
    let index = find(profile)
    precondition(index != HashedSlab<Entry>.none, "the profile of '\(profile.label)' is not in use")
    entries[index].useCount -= 1
    if entries[index].useCount == 0 { entries.remove(index) }
  }

  private func find(_ profile: PresenterProfile) -> Int32 {
    entries.first(withHash: hash(of: profile)) { $0.profile === profile || $0.profile == profile }
  }

  private func hash(of profile: PresenterProfile) -> UInt64 { UInt64(truncatingIfNeeded: profile.hashValue) }
}
