internal import CompactContainers

extension FileAccessArbiter {
  /// A move on its way to a presenter.
  struct UnseenMove: Hashable, Sendable {
    let message: MessageID
    let old: ItemPath
    let new: ItemPath
  }

  /// One registered presenter.
  ///
  /// There may be a million that receive no messages. So data that only the others need lies in ``Details``, and
  /// properties that many have in common in one ``PresenterProfile``.
  struct Presenter: TableElement {
    let id: PresenterID
    let purpose: PurposeID
    var profile: PresenterProfile
    private var details: [Details] = []
    private var place = ItemTree.none
    var link: Int32 = -1

    init(_ id: PresenterID, purpose: PurposeID, _ profile: PresenterProfile, observing attributes: Set<String>?) {
      self.id = id
      self.purpose = purpose
      self.profile = profile
      if let attributes { details = [Details(observedUbiquityAttributes: attributes)] }
    }

    /// Absent while the presented item has no location (a document that was never saved).
    var node: ItemTree.NodeIndex? {
      get { place == ItemTree.none ? nil : place }
      set { place = newValue ?? ItemTree.none }
    }

    var client: ClientID { profile.client }
    var label: String { profile.label }
    var callbacks: PresenterCallbacks { profile.callbacks }
    /// May be asked while its own callback waits inside an access.
    var servesWhileWaiting: Bool { profile.servesWhileWaiting }
    /// A callback goes on only when those above it are over.
    var nestsCallbacks: Bool { profile.callbacks.contains(.nestedCallbacks) }
    /// Runs on an executor that a blocked callback occupies.
    var isActor: Bool { profile.isActor }
  }
}

extension FileAccessArbiter.Presenter {
  fileprivate struct Details: Sendable {
    var observedUbiquityAttributes: Set<String>?
    var running: ShortList<MessageID> = []
    var returned: ShortList<MessageID> = []
    var pending: ShortList<MessageID> = []
    var unseenMoves: [FileAccessArbiter.UnseenMove] = []
    var folded = 0
    var reacquirersOwed = 0
    var ownAccesses: ShortList<AccessID> = []
    var isRemoved = false

    var isUseless: Bool {
      observedUbiquityAttributes == nil && running.isEmpty && returned.isEmpty && pending.isEmpty && unseenMoves.isEmpty
        && folded == 0
        && reacquirersOwed == 0 && ownAccesses.isEmpty && !isRemoved
    }

    /// Room for more messages isn't kept.
    private static let keptMessageCountMax = 64

    var hasMuchRoom: Bool { max(running.capacity, returned.capacity, pending.capacity) > Self.keptMessageCountMax }
  }

  private mutating func needDetails() { if details.isEmpty { details.append(Details()) } }

  /// The memory of details that a presenter doesn't need any more, for the next one that needs some.
  struct SpareDetails: Sendable { fileprivate var list: [Details] }

  /// Forgets data that it doesn't need any more: then all of it is as new, but for the room in its lists.
  ///
  /// - Returns: The memory of the details, if none are left.
  mutating func takeUselessDetails() -> SpareDetails? {
    if details.isEmpty || !details[0].isUseless { return nil }
    let list = exchange(&details, with: [])
    return list[0].hasMuchRoom ? nil : SpareDetails(list: list)
  }

  var hasDetails: Bool { !details.isEmpty }

  /// Gives a presenter without details memory for them.
  mutating func provide(_ spare: SpareDetails) { details = spare.list }

  /// `nil` means all of them.
  var observedUbiquityAttributes: Set<String>? {
    get { details.isEmpty ? nil : details[0].observedUbiquityAttributes }
    _modify {
      needDetails()
      yield &details[0].observedUbiquityAttributes
    }
  }

  /// Delivered and neither answered nor returned: the callback, and above it those served while it waits.
  var running: ShortList<MessageID> {
    get { details.isEmpty ? [] : details[0].running }
    _modify {
      needDetails()
      yield &details[0].running
    }
  }

  /// Those whose callbacks have returned and left the answer to a completion handler.
  var returned: ShortList<MessageID> {
    get { details.isEmpty ? [] : details[0].returned }
    _modify {
      needDetails()
      yield &details[0].returned
    }
  }

  /// Delivered and not answered.
  var unanswered: ShortList<MessageID> { returned.isEmpty ? running : returned + running }

  /// A callback has been answered.
  mutating func forget(_ message: MessageID) {
    if details.isEmpty { return }
    details[0].running.removeAll { $0 == message }
    details[0].returned.removeAll { $0 == message }
    if !details[0].unseenMoves.isEmpty { details[0].unseenMoves.removeAll { $0.message == message } }
  }

  /// Enqueued and not delivered, in order.
  var pending: ShortList<MessageID> {
    get { details.isEmpty ? [] : details[0].pending }
    _modify {
      needDetails()
      yield &details[0].pending
    }
  }

  /// Moves of its item of which it hasn't been completely notified: until then it goes by its former location.
  var unseenMoves: [FileAccessArbiter.UnseenMove] {
    get { details.isEmpty ? [] : details[0].unseenMoves }
    _modify {
      needDetails()
      yield &details[0].unseenMoves
    }
  }

  /// Messages folded since the last delivery.
  var folded: Int {
    get { details.isEmpty ? 0 : details[0].folded }
    _modify {
      needDetails()
      yield &details[0].folded
    }
  }

  /// Reacquirers that it handed over and that wait for an access to end.
  var reacquirersOwed: Int {
    get { details.isEmpty ? 0 : details[0].reacquirersOwed }
    _modify {
      needDetails()
      yield &details[0].reacquirersOwed
    }
  }

  /// Unregistered; lives on only to give back reacquirers.
  var isRemoved: Bool {
    get { details.isEmpty ? false : details[0].isRemoved }
    _modify {
      needDetails()
      yield &details[0].isRemoved
    }
  }

  /// Live accesses made on its behalf.
  var ownAccesses: ShortList<AccessID> {
    get { details.isEmpty ? [] : details[0].ownAccesses }
    _modify {
      needDetails()
      yield &details[0].ownAccesses
    }
  }
}
