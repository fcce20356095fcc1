/// A change of items in the file system that a process saw, by whatever program.
package enum ItemChange: Hashable, Sendable {
  /// The item at this place may have other contents or attributes, or be another one.
  case changed(ItemPath)
  /// There was nothing at this place before.
  case appeared(ItemPath)
  /// There is nothing at this place any more.
  case vanished(ItemPath)
  /// An item stands at another place; `replaced` says that something was there.
  case moved(from: ItemPath, to: ItemPath, replaced: Bool)
  /// Changes were lost: the item and everything inside may be different.
  case unknown(ItemPath)
}

/// A write whose changes a process may not have read out of its queue yet, although it has ended.
package struct EchoID: Hashable, Comparable, Sendable {
  package let rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The records that distinguish changes of strangers from those of coordinated writes.
struct ChangeLedger: Sendable {
  /// A place that a write accounts for.
  struct Cover: Hashable, Sendable {
    let place: ItemPath
    /// Everything inside as well, for all presenters: the item is deleted, moved or replaced.
    let isDeep: Bool
  }

  /// Of a write that has ended: events of its process's changes may still be in the queue of another process.
  struct Echo: Sendable {
    let id: EchoID
    /// The process that hasn't said yet that its queue is empty.
    let client: ClientID
    let covers: [Cover]
  }

  /// Something that appeared beside an item that was being written: perhaps a temporary file of the writer.
  struct Withheld: Sendable {
    let client: ClientID
    let path: ItemPath
    /// The writes that may have made it, until they have ended and nothing of them is unread.
    var writes: Set<AccessID>
    var echoes: Set<EchoID>
  }

  /// A change that isn't reported before the item has been left alone for a moment, so that one write is one message.
  struct Settling: Sendable {
    struct Key: Hashable {
      let client: ClientID
      let path: ItemPath
    }

    /// There was nothing before.
    var isNew: Bool
    /// The presenters that no write has notified of it.
    var presenters: Set<PresenterID>
  }

  /// Registered presenters that observe strangers' changes.
  var observerCount = 0
  var echoes: [Echo] = []
  var withheld: [Withheld] = []
  var settling: [Settling.Key: Settling] = [:]
  /// Places whose end was reported: presenters that look there may see what has appeared since, and isn't reported yet.
  var reportedEnds: Set<Settling.Key> = []
  var lastEcho: UInt64 = 0

  /// The end of something is reported.
  mutating func noteEnd(_ path: ItemPath, of client: ClientID) {
    if reportedEnds.count >= Self.reportedEndCountMax { reportedEnds = [] }
    reportedEnds.insert(Settling.Key(client: client, path: path))
  }

  /// A presenter that observes uncoordinated changes is removed: no change waits any more to be notified to it alone.
  mutating func forgetObserver(_ id: PresenterID) {
    observerCount -= 1
    for (key, waiting) in settling where waiting.presenters.contains(id) {
      settling[key]?.presenters.remove(id)
      if settling[key]?.presenters.isEmpty == true { settling[key] = nil }
    }
  }

  /// A process that doesn't read its queue for so long hears of later writes as if strangers had made them.
  static let echoCountMax = 1024
  /// Items that appear beyond that are reported at once.
  static let withheldCountMax = 1024
  /// Beyond that all are forgotten: then some are reported once too often.
  static let settlingCountMax = 1024
  /// Beyond that all are forgotten.
  static let reportedEndCountMax = 1024
  /// How many waiting messages are searched for an equal one.
  static let lookBackCountMax = 64
}
