package import CompactContainers

/// The use of one item by one access.
///
/// The cases are the options that change blocking or messages (``ConflictRules``, ``MessageRules``).
package enum ItemAccess: Hashable, Sendable {
  /// A read. With `withoutChanges` no presenter is asked to save first.
  case read(withoutChanges: Bool)
  /// A read of the item and of everything inside it in one consistent state: for snapshots.
  case readAll(withoutChanges: Bool)
  case write(WriteIntent)
  /// A participant decides alone about the item and everything inside it, until that's recalled.
  case delegated(forWriting: Bool)

  package var isWrite: Bool {
    switch self {
    case .read, .readAll, .delegated: false
    case .write: true
    }
  }

  /// Whether the access concerns only the item itself: a participant that decides alone about a directory grants it
  /// unasked.
  package var isPlain: Bool {
    switch self {
    case .read: true
    case .write(let intent): !intent.isDeep
    case .readAll, .delegated: false
    }
  }

  /// Whether the access concerns everything inside the item as well.
  package var includesContents: Bool { LockMode(self).isDeep }
}

/// Why an item is written.
///
/// `update` is Apple's write without an option.
package enum WriteIntent: String, Hashable, Sendable, CaseIterable {
  case update, merging, deleting, moving, replacing, metadataOnly
  /// The local contents go; the item itself is kept elsewhere.
  case evicting

  /// Whether the write concerns everything inside the item as well (a "deep writer").
  var isDeep: Bool {
    switch self {
    case .deleting, .moving, .replacing, .evicting: true
    case .update, .merging, .metadataOnly: false
    }
  }
}

/// A request for access to one or more items, granted and ended as one unit.
package struct AccessRequest: Hashable, Sendable {
  package struct Item: Hashable, Sendable {
    package var path: ItemPath
    package var access: ItemAccess

    package init(_ path: ItemPath, _ access: ItemAccess) {
      self.path = path
      self.access = access
    }
  }

  /// How long each phase may last; `nil` means for ever.
  package struct Limits: Hashable, Sendable {
    /// From the request until no other access is in the way.
    package var waiting: Nanoseconds?
    /// From asking the presenters until all have answered.
    package var answering: Nanoseconds?
    /// How often a wait is reported while it lasts.
    package var reporting: Nanoseconds?
    /// How long presenters of participants that are stopped are waited for.
    package var stoppedPresenters: Nanoseconds?
    /// How long accesses that stopped participants hold are waited for.
    package var stoppedHolders: Nanoseconds?

    package init(
      waiting: Nanoseconds? = nil, answering: Nanoseconds? = nil, reporting: Nanoseconds? = nil,
      stoppedPresenters: Nanoseconds? = nil, stoppedHolders: Nanoseconds? = nil
    ) {
      self.waiting = waiting
      self.answering = answering
      self.reporting = reporting
      self.stoppedPresenters = stoppedPresenters
      self.stoppedHolders = stoppedHolders
    }

    package static let never = Limits()
  }

  package var client: ClientID
  package var purpose: PurposeID
  /// The presenter on whose behalf the access is made: it is neither asked nor notified about it.
  package var ownPresenter: PresenterID?
  /// The name of the requester, for people.
  package var label: String
  package var items: ShortList<Item>
  /// The bits of the options of its reads, for the origin of messages only: their consequences are in `items`.
  package var readingOptions: UInt = 0
  /// Asks the presenters, claims nothing (C-135).
  package var isPreparation = false
  /// The access or callback inside of which the request was made.
  package var context: ExecutionContext?
  /// Whether that context certainly waits for this access: it was made by the same thread or task.
  ///
  /// A request that only inherited its context may run on while the context ends; such an edge proves no deadlock.
  package var isAwaitedByContext = true
  /// The presenter of an access around this one that's lost, unless it's the own presenter of this one.
  ///
  /// It's asked and notified like others, but while it's asked it may wait for this access, as for each one that's nested in its own.
  package var presenterAround: PresenterID?
  /// The requesting thread sleeps until the answer; no other code can run on it meanwhile.
  package var blocksThread = false
  package var isOnMainThread = false
  package var limits: Limits
  /// When the presenters' answers are late: go on without them instead of failing.
  package var proceedsWithoutLateAnswers = false

  package init(
    client: ClientID, purpose: PurposeID, ownPresenter: PresenterID? = nil, label: String, items: [Item],
    context: ExecutionContext? = nil, limits: Limits = .never
  ) {
    self.init(
      client: client, purpose: purpose, ownPresenter: ownPresenter, label: label, list: ShortList(items),
      context: context, limits: limits)
  }

  /// The same for items in a list, which needs no memory for one item.
  package init(
    client: ClientID, purpose: PurposeID, ownPresenter: PresenterID? = nil, label: String, list items: ShortList<Item>,
    context: ExecutionContext? = nil, limits: Limits = .never
  ) {
    self.client = client
    self.purpose = purpose
    self.ownPresenter = ownPresenter
    self.label = label
    self.items = items
    self.context = context
    self.limits = limits
  }
}
