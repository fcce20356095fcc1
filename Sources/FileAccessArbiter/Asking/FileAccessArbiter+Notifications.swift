internal import CompactContainers

// Notifies presenters of changes (C-053…C-064, C-090…C-095, C-112, C-203…C-206).

extension FileAccessArbiter {
  /// Reports the result of a write, when it ends.
  ///
  /// The origin says whether anything is known to have changed (C-310). A write that failed and changed nothing is
  /// reported only to presenters that consented to the end of the item. If it were reported to all, two presenters that
  /// then read the item, and whose saves fail, would notify each other without end.
  mutating func tellOutcomes(of id: AccessID, _ outcomes: [ItemOutcome]) {
    if accesses[id].isPreparation || !isWriting(id) || !isAnyoneConcerned(by: id, withInside: false) { return }
    let access = accesses[id]
    if has(.didChangeAfterReacquirer) { payDebts(of: id) }
    for (index, item) in access.items.enumerated() {
      guard case .write(let intent) = item.access else { continue }
      let outcome = outcomes.isEmpty ? ItemOutcome.unknown : outcomes[index]
      if item.wasMoveDestination || item.isAlias || outcome == .abandoned && !intent.endsTheItem { continue }
      // Presenters of an item that was moved read it anyway: a file that is written and then moved is one message.
      if [.untouched, .unknown].contains(outcome), access.hasFormerClaims(of: index) { continue }
      var origin = origin(of: id)
      origin.itemAccess = item.access
      origin.verified = outcome.verified
      tell(outcome, at: index, intent, access, origin)
    }
  }

  private mutating func tell(
    _ outcome: ItemOutcome, at index: Int, _ intent: WriteIntent, _ access: Access, _ origin: Message.Origin
  ) {
    let wasAccommodated = outcome == .vanished && (intent == .deleting || intent == .replacing)
    for (presenter, relation) in presentersToTell(aroundItem: index, access) {
      switch relation {
      case .item: if !wasAccommodated { send(.itemDidChange, to: presenter, origin) }
      case .enclosingPackage, .enclosingDirectory:
        let path = path(ofItem: index, of: access)
        let news: SubitemNews =
          switch outcome {
          case .appeared: .appeared(path)
          case .vanished: .vanished(path)
          case .unknown, .untouched, .abandoned, .changed: .changed(path)
          }
        sendNews(news, to: presenter, relation, origin)
      case .inside: break
      }
    }
  }

  /// Whether a write of this access would be reported to any presenter, so that inspecting the items is worth it.
  func isAnyoneToBeTold(of id: AccessID) -> Bool {
    if !isWriting(id) || !isAnyoneConcerned(by: id, withInside: false) { return false }
    let access = accesses[id]
    return access.items.indices.contains { index in
      access.items[index].access.isWrite && !access.items[index].isAlias
        && !presentersToTell(aroundItem: index, access).isEmpty
    }
  }

  private func isWriting(_ id: AccessID) -> Bool {
    accesses[id].items.contains { $0.access.isWrite && !$0.isAlias }
  }

  private func presentersToTell(aroundItem index: Int, _ access: Access) -> [(PresenterID, PresenterRelation)] {
    var result: [(PresenterID, PresenterRelation)] = []
    forEachPresenter(aroundItem: index, of: access, withInside: false) { presenter, relation in
      if !isOwn(presenters[presenter], access) { result.append((presenter, relation)) }
    }
    return result
  }

  func presentersToTell(
    around path: ItemPath, withInside: Bool, _ access: Access
  ) -> [(PresenterID, PresenterRelation)] {
    var result: [(PresenterID, PresenterRelation)] = []
    forEachPresenter(around: path, withInside: withInside) { presenter, relation in
      if !isOwn(presenters[presenter], access) { result.append((presenter, relation)) }
    }
    return result
  }

  mutating func send(_ kind: Message.Kind, to presenter: PresenterID, _ origin: Message.Origin) {
    if presenters[presenter].callbacks.contains(kind.requiredCallback) { enqueue(kind, to: presenter, origin) }
  }

  mutating func sendNews(
    _ news: SubitemNews, to presenter: PresenterID, _ relation: PresenterRelation, _ origin: Message.Origin
  ) {
    for kind in messages(about: news, to: presenter, relation, from: origin.purpose) {
      enqueue(kind, to: presenter, origin)
    }
  }

  /// The notification of a presenter about something inside its directory: a callback that isn't declared is replaced
  /// by the next more general one that is.
  ///
  /// | event | declared, in this order | rules |
  /// | --- | --- | --- |
  /// | came | did appear; subitem did change | C-060 |
  /// | moved | did move; subitem did change, of each of its places inside | C-060, C-092 |
  /// | changed or gone | subitem did change | C-054, C-061 |
  /// | any of them, in a package | did change | C-056, C-093 |
  /// | an entry of a plain directory came, went or was renamed | did change, if chosen and nothing about subitems is declared | C-058 |
  ///
  /// Its own presenter is notified of none of its actions but versions (C-110, C-112).
  func messages(
    about news: SubitemNews, to id: PresenterID, _ relation: PresenterRelation, from purpose: PurposeID
  ) -> [Message.Kind] {
    let presenter = presenters[id]
    let callbacks = presenter.callbacks
    if callbacks.contains(news.kind.requiredCallback) { return [news.kind] }
    guard presenter.purpose != purpose, let node = presenter.node else { return [] }
    let directory = tree.path(of: node)
    if callbacks.contains(.subitemDidChange), !news.isVersion {
      return news.places.filter(directory.contains).map(Message.Kind.subitemDidChange)
    }
    guard callbacks.contains(.itemDidChange) else { return [] }
    if relation == .enclosingPackage { return [.itemDidChange] }
    // Rather one message too many to a class whose callbacks are unknown yet.
    let known = callbacks.subtracting(callbacks.presumed)
    let wantsEntries = callbacks.contains(.directoryEntries) && known.isDisjoint(with: .subitemNews)
    return wantsEntries && news.entries.contains { $0.parent == directory } ? [.itemDidChange] : []
  }
}

/// A change of something inside a directory.
enum SubitemNews: Hashable, Sendable {
  case appeared(ItemPath)
  case vanished(ItemPath)
  case changed(ItemPath)
  case moved(from: ItemPath, to: ItemPath)
  case version(ItemPath, Message.VersionChange, String)

  /// The message that says exactly this.
  var kind: Message.Kind {
    switch self {
    case .appeared(let path): .subitemDidAppear(path)
    case .vanished(let path), .changed(let path): .subitemDidChange(path)
    case .moved(let old, let new): .subitemDidMove(from: old, to: new)
    case .version(let path, let change, let version): .subitemVersion(path, change, version)
    }
  }

  var isVersion: Bool {
    if case .version = self { return true }
    return false
  }

  /// The places of the change.
  var places: [ItemPath] {
    switch self {
    case .appeared(let path), .vanished(let path), .changed(let path), .version(let path, _, _): [path]
    case .moved(let old, let new): [old, new]
    }
  }

  /// The names that came or went.
  var entries: [ItemPath] {
    switch self {
    case .appeared, .vanished, .moved: places
    case .changed, .version: []
    }
  }
}

extension WriteIntent {
  /// Whether presenters consented to the item's end, so that they hear of it when it didn't come.
  fileprivate var endsTheItem: Bool {
    switch self {
    case .deleting, .replacing, .evicting: true
    case .update, .merging, .moving, .metadataOnly: false
    }
  }
}

extension ItemOutcome {
  var verified: Bool? {
    switch self {
    case .unknown: nil
    case .untouched, .abandoned: false
    case .changed, .appeared, .vanished: true
    }
  }
}

// MARK: - Announcements that are no access

/// The party that announces something, and the item.
package struct Announcement: Hashable, Sendable {
  package var client: ClientID
  package var purpose: PurposeID
  package var ownPresenter: PresenterID?
  package var label: String
  package var path: ItemPath

  package init(client: ClientID, purpose: PurposeID, ownPresenter: PresenterID?, label: String, path: ItemPath) {
    self.client = client
    self.purpose = purpose
    self.ownPresenter = ownPresenter
    self.label = label
    self.path = path
  }

  fileprivate var origin: Message.Origin { Message.Origin(client: client, purpose: purpose, label: label) }
}

extension FileAccessArbiter {
  /// Ubiquity attributes changed: reported to presenters of the item that observe at least one of them (C-205, C-206).
  package mutating func ubiquityAttributesChanged(
    _ announcement: Announcement, _ attributes: Set<String>, at time: Timestamp
  ) -> [Effect] {
    begin(at: time)
    if let node = tree.node(at: announcement.path) {
      for id in tree.presenters(at: node) {
        let presenter = presenters[id]
        if id == announcement.ownPresenter || presenter.purpose == announcement.purpose { continue }
        let observed = presenter.observedUbiquityAttributes.map(attributes.intersection) ?? attributes
        if observed.isEmpty { continue }
        send(.itemDidChangeUbiquityAttributes(observed.sorted()), to: id, announcement.origin)
      }
    }
    return finish()
  }

  /// A version of the item was added, removed or resolved: reported to all its presenters, the own one too (C-112,
  /// C-203).
  package mutating func versionChanged(
    _ announcement: Announcement, _ change: Message.VersionChange, version: String, at time: Timestamp
  ) -> [Effect] {
    begin(at: time)
    var found: [(PresenterID, PresenterRelation)] = []
    forEachPresenter(around: announcement.path, withInside: false) { found.append(($0, $1)) }
    for (presenter, relation) in found {
      if relation == .item {
        send(.itemVersion(change, version), to: presenter, announcement.origin)
      } else {
        let news = SubitemNews.version(announcement.path, change, version)
        sendNews(news, to: presenter, relation, announcement.origin)
      }
    }
    return finish()
  }
}
