internal import Glibc

/// The requirements of a table of watches on the kernel; neither call waits for anything.
package protocol WatchKernel {
  /// Ends a watch, whose ``InotifyRecord/isEnd`` is in the queue when this returns; does nothing if there's no such watch.
  func remove(_ watch: Int32)

  /// Takes out the records in the queue when the call began, and perhaps some more, in order.
  func read(_ body: (InotifyRecord) -> Void)
}

/// The distribution of events in one queue of inotify(7) that several subscribers share: a value that decides.
///
/// The kernel has one watch for each inode, for all requests. So this table has the subscribers of each watch, and the
/// events that each of them asked for; the kernel reports all events that any of them has ever asked for since the
/// watch was made, and the rest is dropped here. Each subscriber has numbers of its own for its watches. No number is
/// used again before all others have been, so the remaining records of a former watch are never taken for news of a
/// later one.
///
/// The guarantees for a subscriber, as if the queue were its own:
/// - It receives, in order, every event between the return of a watch and the call that ends it, and then, once, the
///   end.
/// - It receives no event from before its request of the watch, none that it didn't ask for, and none after the end.
/// - If the kernel has lost events, each subscriber that watches anything is notified of that, once. A subscriber that
///   doesn't take its records loses its own when there are more than `recordCountMax`, and no other's.
///
/// Adding a watch in the kernel looks up a path, which may take long, so it's done outside of the lock around this
/// value: between ``beginWatch()`` and ``endWatch(_:_:_:of:in:)``. A watch that ended in between is made once more.
package struct SharedWatches: Hashable, Sendable {
  /// One subscriber of the queue.
  package struct SubscriberID: Hashable, Sendable {
    let rawValue: Int
  }

  /// A call to the kernel for a watch that goes on.
  package struct Ticket: Hashable, Sendable {
    fileprivate let rawValue: UInt64
  }

  struct Subscription: Hashable, Sendable {
    let subscriber: SubscriberID
    /// The subscriber's number of the watch.
    let number: Int32
    var mask: UInt32
  }

  /// A watch of the kernel; most have one subscriber.
  struct Watch: Hashable, Sendable {
    var first: Subscription
    var others: [Subscription] = []
  }

  struct Subscriber: Hashable, Sendable {
    /// The kernel's watches, by the subscriber's own numbers.
    var watches: [Int32: Int32] = [:]
    var lastNumber: Int32 = 0
    var records: [InotifyRecord] = []
    /// The last record says that others were lost, and none is added.
    var hasLost = false
    /// Its records aren't taken any more.
    var isLeaving = false
  }

  /// How many records are kept for a subscriber; as many as the kernel keeps by default (`max_queued_events`).
  package static let recordCountMax = 16384
  /// How many ended watches are remembered while watches are being added.
  static let endCountMax = 1 << 16

  let recordCountMax: Int
  let endCountMax: Int
  var subscribers: [SubscriberID: Subscriber] = [:]
  var watches: [Int32: Watch] = [:]
  /// The subscribers that have got records since the last ``takeNotified()``.
  private var notified: Set<SubscriberID> = []
  private var lastSubscriber = 0
  private var lastTicket: UInt64 = 0
  private var tickets: Set<Ticket> = []
  /// Watches that ended while others were being added: the kernel may just have given one of them to an added one.
  private var ends: Set<Int32> = []
  /// Up to which ticket too many watches have ended to remember them.
  private var forgottenTicket: UInt64 = 0

  package init(recordCountMax: Int = Self.recordCountMax, endCountMax: Int = Self.endCountMax) {
    self.recordCountMax = recordCountMax
    self.endCountMax = endCountMax
  }

  /// How many subscribers there are.
  package var subscriberCount: Int { subscribers.count }
  /// How many inodes are watched.
  package var watchCount: Int { watches.count }
}

// MARK: - Subscribers

extension SharedWatches {
  /// Adds a subscriber, which watches nothing yet.
  package mutating func open() -> SubscriberID {
    lastSubscriber += 1
    let id = SubscriberID(rawValue: lastSubscriber)
    subscribers[id] = Subscriber()
    return id
  }

  /// Ends some watches of a subscriber that takes no records any more, and then the subscriber.
  ///
  /// The kernel queues the end of each watch, so its queue is read now and then: a queue full of these would lose
  /// records that others wait for.
  ///
  /// - Parameters:
  ///   - id: The subscriber.
  ///   - countMax: How many watches at most.
  ///   - kernel: The kernel's queue.
  /// - Returns: Whether that was the last of it.
  package mutating func close(_ id: SubscriberID, countMax: Int, in kernel: some WatchKernel) -> Bool {
    guard let subscriber = subscribers[id] else { return true }
    subscribers[id]?.isLeaving = true
    subscribers[id]?.records = []
    notified.remove(id)
    for (number, watch) in subscriber.watches.prefix(countMax) {
      if !leave(watch, id) {
        kernel.remove(watch)
        noteEnd(watch)
      }
      subscribers[id]?.watches[number] = nil
    }
    read(in: kernel)
    if subscriber.watches.count > countMax { return false }
    subscribers[id] = nil
    return true
  }

  /// Takes the records of a subscriber, in order.
  package mutating func takeRecords(of id: SubscriberID) -> [InotifyRecord] {
    guard var subscriber = subscribers[id] else { return [] }
    defer { subscribers[id] = subscriber }
    notified.remove(id)
    subscriber.hasLost = false
    return exchange(&subscriber.records, with: [])
  }

  /// Whether there are records for a subscriber.
  package func hasRecords(of id: SubscriberID) -> Bool { subscribers[id]?.records.isEmpty == false }

  /// Takes the subscribers that have got records since the last call and haven't taken them.
  package mutating func takeNotified() -> Set<SubscriberID> { exchange(&notified, with: []) }
}

// MARK: - Watches

extension SharedWatches {
  /// The kernel is about to be asked for a watch.
  package mutating func beginWatch() -> Ticket {
    lastTicket += 1
    let ticket = Ticket(rawValue: lastTicket)
    tickets.insert(ticket)
    return ticket
  }

  /// The kernel has refused a watch.
  package mutating func failWatch(_ ticket: Ticket) {
    tickets.remove(ticket)
    if tickets.isEmpty { ends = [] }
  }

  /// The kernel has answered that it watches something.
  ///
  /// - Parameters:
  ///   - ticket: The ticket of ``beginWatch()``.
  ///   - watch: The kernel's number.
  ///   - mask: The events that the subscriber asks for, as bits of inotify(7).
  ///   - id: The subscriber.
  ///   - kernel: The kernel's queue.
  /// - Returns: The subscriber's number, which is the same as before if it watches that already; `nil` if the watch has ended meanwhile, so that the
  ///   kernel has to be asked once more.
  package mutating func endWatch(
    _ ticket: Ticket, _ watch: Int32, _ mask: UInt32, of id: SubscriberID, in kernel: some WatchKernel
  ) -> Int32? {
    // Earlier records are read first: this subscriber must not receive those of others, or those that it hadn't asked
    // for.
    if watches[watch] != nil || tickets.count > 1 { read(in: kernel) }
    let isSure = !ends.contains(watch) && ticket.rawValue > forgottenTicket
    failWatch(ticket)
    guard isSure, let number = subscribers[id]?.takeNumber(for: watch, known: watches[watch]?.number(of: id)) else {
      // If the kernel watches it, then for no subscriber.
      if watches[watch] == nil {
        kernel.remove(watch)
        read(in: kernel)
      }
      return nil
    }
    let subscription = Subscription(subscriber: id, number: number, mask: mask)
    if watches[watch]?.add(subscription) == nil { watches[watch] = Watch(first: subscription) }
    return number
  }

  /// Ends a watch of a subscriber, which has received everything before, and the end, when this returns.
  ///
  /// - Parameters:
  ///   - number: The subscriber's number.
  ///   - id: The subscriber.
  ///   - kernel: The kernel's queue.
  package mutating func unwatch(_ number: Int32, of id: SubscriberID, in kernel: some WatchKernel) {
    guard let watch = subscribers[id]?.watches[number] else { return }
    let isLast = watches[watch]?.others.isEmpty == true
    if isLast { kernel.remove(watch) }
    read(in: kernel)
    // The kernel has said so by now, unless others go on watching, or the record of the end was lost.
    guard subscribers[id]?.watches.removeValue(forKey: number) != nil else { return }
    if !leave(watch, id) { noteEnd(watch) }
    tell(id, InotifyRecord(watch: number, mask: UInt32(IN_IGNORED), cookie: 0, name: []))
  }

  /// Takes out the kernel's records, and hands them out.
  package mutating func read(in kernel: some WatchKernel) {
    // The closure can't alter the value that it's called from.
    var records: [InotifyRecord] = []
    kernel.read { records.append($0) }
    for record in records { take(record) }
  }

  /// - Returns: Whether others go on watching.
  private mutating func leave(_ watch: Int32, _ id: SubscriberID) -> Bool {
    if watches[watch]?.remove(id) == true { return true }
    watches[watch] = nil
    return false
  }

  /// The kernel doesn't watch this any more.
  private mutating func noteEnd(_ watch: Int32) {
    if tickets.isEmpty { return }
    ends.insert(watch)
    if ends.count > endCountMax { forgetEnds() }
  }

  /// Any watch may have ended: watches that are being added are requested once more.
  private mutating func forgetEnds() {
    ends = []
    forgottenTicket = lastTicket
  }
}

// MARK: - Records

extension SharedWatches {
  private mutating func take(_ record: InotifyRecord) {
    if record.isOverflow {
      forgetEnds()
      for (id, subscriber) in subscribers where !subscriber.watches.isEmpty { tell(id, record) }
    } else if record.isEnd {
      noteEnd(record.watch)
      guard let watch = watches.removeValue(forKey: record.watch) else { return }
      watch.forEach { subscription in
        subscribers[subscription.subscriber]?.watches[subscription.number] = nil
        tell(subscription.subscriber, record.told(as: subscription.number))
      }
    } else {
      guard let watch = watches[record.watch] else { return }
      watch.forEach { subscription in
        if record.isAbout(subscription.mask) {
          tell(subscription.subscriber, record.told(as: subscription.number))
        }
      }
    }
  }

  private mutating func tell(_ id: SubscriberID, _ record: InotifyRecord) {
    subscribers[id]?.add(record, countMax: recordCountMax)
    if subscribers[id]?.isLeaving == false { notified.insert(id) }
  }
}

extension SharedWatches.Subscriber {
  fileprivate mutating func add(_ record: InotifyRecord, countMax: Int) {
    // The kernel does the same with repeated events: a file that's written a thousand times is one record.
    if isLeaving || hasLost || records.last == record { return }
    hasLost = record.isOverflow || records.count >= countMax
    records.append(hasLost ? .overflow : record)
  }

  fileprivate mutating func takeNumber(for watch: Int32, known: Int32?) -> Int32 {
    if let known { return known }
    repeat { lastNumber = lastNumber == .max ? 1 : lastNumber + 1 } while watches[lastNumber] != nil
    watches[lastNumber] = watch
    return lastNumber
  }
}

extension SharedWatches.Watch {
  fileprivate func number(of id: SharedWatches.SubscriberID) -> Int32? {
    first.subscriber == id ? first.number : others.first { $0.subscriber == id }?.number
  }

  /// Adds a subscription, or its events to the present one.
  fileprivate mutating func add(_ subscription: SharedWatches.Subscription) {
    if first.subscriber == subscription.subscriber {
      first.mask |= subscription.mask
    } else if let index = others.firstIndex(where: { $0.subscriber == subscription.subscriber }) {
      others[index].mask |= subscription.mask
    } else {
      others.append(subscription)
    }
  }

  /// - Returns: Whether others are left; if not, nothing is removed.
  fileprivate mutating func remove(_ id: SharedWatches.SubscriberID) -> Bool {
    if first.subscriber == id {
      if others.isEmpty { return false }
      first = others.removeFirst()
    } else {
      others.removeAll { $0.subscriber == id }
    }
    return true
  }

  fileprivate func forEach(_ body: (SharedWatches.Subscription) -> Void) {
    body(first)
    others.forEach(body)
  }
}

extension InotifyRecord {
  /// The events, without flags.
  private static let happenings: UInt32 = 0xFFF  // IN_ALL_EVENTS

  fileprivate func told(as number: Int32) -> InotifyRecord {
    InotifyRecord(watch: number, mask: mask, cookie: cookie, name: name)
  }

  /// Whether it's one of these events; an unmount is reported to all.
  fileprivate func isAbout(_ mask: UInt32) -> Bool {
    self.mask & mask & Self.happenings != 0 || has(IN_UNMOUNT)
  }
}
