import Glibc
import SeededRandom
import TestSupport
import Testing

@testable import SystemInterface

// Without a time limit: long runs take turns.
@Suite("A shared queue is to each of its subscribers like one of its own")
struct SharedWatchesExplorationTests {
  /// The number of steps in a run; all orders of them are gone through.
  struct Bounds: Sendable, CustomTestStringConvertible {
    var callCount = 0
    var eventCount = 0
    var deathCount = 0
    /// How many records the kernel keeps.
    var queueCountMax = 100
    /// How many are kept for a subscriber.
    var recordCountMax = 100
    var endCountMax = 100

    var testDescription: String {
      "\(callCount) calls, \(eventCount) events, \(deathCount) ends, \(queueCountMax) and \(recordCountMax) records kept"
    }
  }

  static let bounds = Budget.isLong ? small + large : small

  /// Up to half a minute each in a debug build.
  private static let large = [
    Bounds(callCount: 3, eventCount: 1, deathCount: 0),
    Bounds(callCount: 2, eventCount: 3, deathCount: 0, recordCountMax: 1),
    Bounds(callCount: 2, eventCount: 2, deathCount: 1),
    Bounds(callCount: 2, eventCount: 2, deathCount: 0, queueCountMax: 1),
  ]

  private static let small = [
    Bounds(callCount: 2, eventCount: 1, deathCount: 1, queueCountMax: 1, endCountMax: 0),
    Bounds(callCount: 2, eventCount: 2, deathCount: 0, recordCountMax: 1),
  ]

  @Test(
    "Nobody misses what they watch, hears of what they don't, or is told twice that events were lost", arguments: bounds
  )
  func everyOrder(bounds: Bounds) async {
    let (count, violation) = await LongRun.run { () -> (Int, String?) in
      let start = WatchModel(bounds)
      // Their hashes alone: comparing and moving whole models would take half of the time.
      var seen: Set<Int> = [start.hashValue]
      var waiting = [start]
      while let model = waiting.popLast() {
        for step in model.steps {
          var next = model
          next.perform(step)
          if seen.count > 200_000 { return (seen.count, "more than can be looked at") }
          if let violation = next.violation { return (seen.count, "\(violation) after \(step) in \(model)") }
          if seen.insert(next.hashValue).inserted { waiting.append(next) }
        }
      }
      return (seen.count, nil)
    }
    print("\(count) states of a shared queue: \(bounds.testDescription)")
    #expect(violation == nil)
    #expect(count > 500)
  }
}

/// Two subscribers, two inodes, and the kernel's queue.
private struct WatchModel: Hashable {
  enum Step: Hashable {
    case begin(reader: Int, inode: Int)
    case add(reader: Int, inode: Int)
    case end(reader: Int, inode: Int)
    case unwatch(reader: Int, inode: Int)
    case take(reader: Int)
    /// A reader takes records out for others.
    case pump
    case happen(inode: Int, UInt32)
    case die(inode: Int)
  }

  struct Call: Hashable {
    var ticket: SharedWatches.Ticket
    var mask: UInt32
    /// The answer of the kernel.
    var watch: Int32?
  }

  struct Reader: Hashable {
    let id: SharedWatches.SubscriberID
    var calls: [Int: Call] = [:]
    var numbers: [Int: Int32] = [:]
    var masks: [Int: UInt32] = [:]
    var inodes: [Int32: Int] = [:]
    var ended: Set<Int32> = []
    /// Events that have to be reported, by their cookies, in order.
    var owed: [UInt32] = []
    /// Watches with an end that has to be reported.
    var owedEnds: Set<Int32> = []
    var isOwedOverflow = false
    /// Events that occurred while a call went on.
    var optional: Set<UInt32> = []
    var mayOverflow = false
  }

  let bounds: SharedWatchesExplorationTests.Bounds
  var table: SharedWatches
  var kernel = ModelKernel.State()
  var readers: [Reader] = []
  var callCount = 0
  var eventCount = 0
  var deathCount = 0
  var violation: String?

  static let happenings = [UInt32(IN_CREATE), UInt32(IN_MODIFY)]

  init(_ bounds: SharedWatchesExplorationTests.Bounds) {
    self.bounds = bounds
    table = SharedWatches(recordCountMax: bounds.recordCountMax, endCountMax: bounds.endCountMax)
    kernel.countMax = bounds.queueCountMax
    for _ in 0..<2 { readers.append(Reader(id: table.open())) }
  }

  static func == (first: Self, second: Self) -> Bool {
    first.table == second.table && first.kernel == second.kernel && first.readers == second.readers
      && first.eventCount == second.eventCount && first.callCount == second.callCount
      && first.deathCount == second.deathCount
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(kernel)
    hasher.combine(readers)
    hasher.combine(eventCount)
    hasher.combine(callCount)
  }

  var steps: [Step] {
    // The first call may be taken for that of the first reader, on the first inode.
    if callCount == 0 { return [.begin(reader: 0, inode: 0)] }
    var steps: [Step] = kernel.queue.isEmpty ? [] : [.pump]
    for reader in 0..<2 where !kernel.queue.isEmpty || table.hasRecords(of: readers[reader].id) {
      steps.append(.take(reader: reader))
    }
    for inode in 0..<2 {
      let isMarked = kernel.marks[inode] != nil
      if isMarked, eventCount < bounds.eventCount { steps += Self.happenings.map { .happen(inode: inode, $0) } }
      if isMarked, deathCount < bounds.deathCount { steps.append(.die(inode: inode)) }
      for reader in 0..<2 {
        if let call = readers[reader].calls[inode] {
          steps.append(call.watch == nil ? .add(reader: reader, inode: inode) : .end(reader: reader, inode: inode))
        } else if callCount < bounds.callCount {
          steps.append(.begin(reader: reader, inode: inode))
        }
        if readers[reader].numbers[inode] != nil { steps.append(.unwatch(reader: reader, inode: inode)) }
      }
    }
    return steps
  }

  mutating func perform(_ step: Step) {
    let box = ModelKernel(kernel)
    let watching = readers.map { !$0.numbers.isEmpty }
    switch step {
    case .begin(let reader, let inode):
      // The first request has the smaller mask.
      let mask = callCount == 0 ? Self.happenings[0] : Self.happenings[0] | Self.happenings[1]
      callCount += 1
      readers[reader].calls[inode] = Call(ticket: table.beginWatch(), mask: mask)
    case .add(let reader, let inode): add(reader, inode, box)
    case .end(let reader, let inode): end(reader, inode, box)
    case .unwatch(let reader, let inode):
      guard let number = readers[reader].numbers.removeValue(forKey: inode) else { break }
      readers[reader].masks[inode] = nil
      table.unwatch(number, of: readers[reader].id, in: box)
      readers[reader].owedEnds.insert(number)
    case .take(let reader):
      table.read(in: box)
      check(table.takeRecords(of: readers[reader].id), reader)
    case .pump: table.read(in: box)
    case .happen(let inode, let happening): happen(inode, happening, box)
    case .die(let inode): die(inode, box)
    }
    if box.hasJustOverflown { noteOverflow(watching) }
    kernel = box.state
    violation = violation ?? invariant
  }

  private mutating func add(_ reader: Int, _ inode: Int, _ box: ModelKernel) {
    guard let call = readers[reader].calls[inode] else { return }
    if let watch = box.add(inode, call.mask) {
      readers[reader].calls[inode]?.watch = watch
    } else {
      table.failWatch(call.ticket)
      readers[reader].calls[inode] = nil
    }
  }

  private mutating func end(_ reader: Int, _ inode: Int, _ box: ModelKernel) {
    guard let call = readers[reader].calls[inode], let watch = call.watch else { return }
    guard let number = table.endWatch(call.ticket, watch, call.mask, of: readers[reader].id, in: box) else {
      if box.state.marks[inode]?.watch == watch, bounds.endCountMax > 0, !box.hasOverflown {
        violation = "a watch that goes on was to be asked for again"
      }
      readers[reader].calls[inode] = Call(ticket: table.beginWatch(), mask: call.mask)
      return
    }
    readers[reader].calls[inode] = nil
    readers[reader].numbers[inode] = number
    readers[reader].inodes[number] = inode
    readers[reader].masks[inode, default: 0] |= call.mask
    if readers[reader].ended.contains(number) { violation = "a number of an ended watch is used again" }
    let isOverflown = box.state.queue.contains(where: \.isOverflow)
    if isOverflown { readers[reader].mayOverflow = true }
    if box.state.marks[inode]?.watch == watch { return }
    if box.state.queue.contains(where: { $0.isEnd && $0.watch == watch }) {
      readers[reader].owedEnds.insert(number)
      readers[reader].numbers[inode] = nil
      readers[reader].masks[inode] = nil
    } else if isOverflown {
      readers[reader].isOwedOverflow = true
    } else {
      violation = "a watch that has ended seems to go on"
    }
  }

  private mutating func happen(_ inode: Int, _ happening: UInt32, _ box: ModelKernel) {
    eventCount += 1
    let cookie = UInt32(eventCount)
    guard let mark = box.state.marks[inode], mark.mask & happening != 0 else { return }
    let told = box.queue(InotifyRecord(watch: mark.watch, mask: happening, cookie: cookie, name: []))
    for reader in readers.indices {
      if readers[reader].calls[inode] != nil { readers[reader].optional.insert(cookie) }
      guard readers[reader].masks[inode, default: 0] & happening != 0 else { continue }
      if told { readers[reader].owed.append(cookie) } else { readers[reader].isOwedOverflow = true }
    }
  }

  private mutating func die(_ inode: Int, _ box: ModelKernel) {
    deathCount += 1
    let mark = box.state.marks[inode]
    let told = box.die(inode)
    guard mark != nil else { return }
    if !told { return }
    for reader in readers.indices {
      guard let number = readers[reader].numbers.removeValue(forKey: inode) else { continue }
      readers[reader].masks[inode] = nil
      readers[reader].owedEnds.insert(number)
    }
  }

  /// Readers that watch something are notified when the kernel loses events.
  private mutating func noteOverflow(_ watching: [Bool]) {
    for reader in readers.indices {
      if !readers[reader].calls.isEmpty { readers[reader].mayOverflow = true }
      if watching[reader] { readers[reader].isOwedOverflow = true }
    }
  }

  private mutating func check(_ records: [InotifyRecord], _ place: Int) {
    var reader = readers[place]
    defer { readers[place] = reader }
    for record in records {
      if record.isOverflow {
        let isFull = records.count > bounds.recordCountMax
        if !reader.isOwedOverflow, !reader.mayOverflow, !isFull {
          violation = "told of a loss that there wasn't, or twice"
        }
        if record != records.last { violation = "something follows the loss of events" }
        (reader.owed, reader.owedEnds, reader.isOwedOverflow, reader.mayOverflow) = ([], [], false, false)
        continue
      }
      guard let inode = reader.inodes[record.watch], !reader.ended.contains(record.watch) else {
        violation = "a record of a stranger: \(record)"
        return
      }
      if record.isEnd {
        reader.ended.insert(record.watch)
        if reader.owedEnds.remove(record.watch) == nil, records.last?.isOverflow != true {
          violation = "the end of a watch of \(inode) that goes on"
        }
      } else if reader.owed.first == record.cookie {
        reader.owed.removeFirst()
      } else if reader.optional.remove(record.cookie) == nil {
        violation = "an event out of its order, or twice, or a stranger's: \(record)"
      }
    }
    reader.optional = []
    if !reader.owed.isEmpty || !reader.owedEnds.isEmpty || reader.isOwedOverflow {
      violation = "missed \(reader.owed), the ends of \(reader.owedEnds), overflow: \(reader.isOwedOverflow)"
    }
  }

  /// The condition that holds between any two steps.
  private var invariant: String? {
    let idle = kernel.marks.filter { table.watches[$0.value.watch] == nil }
    let isExpected = { (watch: Int32) in
      self.readers.contains { $0.calls.values.contains { $0.watch == watch } }
    }
    return idle.allSatisfy { isExpected($0.value.watch) } ? nil : "the kernel watches for nobody"
  }
}

/// The behaviour of inotify(7), without files.
private final class ModelKernel: WatchKernel {
  struct Mark: Hashable {
    let watch: Int32
    var mask: UInt32
  }

  struct State: Hashable {
    var marks: [Int: Mark] = [:]
    var dead: Set<Int> = []
    var queue: [InotifyRecord] = []
    var lastWatch: Int32 = 0
    var countMax = 0
    var hasOverflown = false
  }

  var state: State
  private(set) var hasJustOverflown = false
  var hasOverflown: Bool { state.hasOverflown }

  init(_ state: State) { self.state = state }

  func add(_ inode: Int, _ mask: UInt32) -> Int32? {
    if state.dead.contains(inode) { return nil }
    if state.marks[inode] == nil {
      state.lastWatch += 1
      state.marks[inode] = Mark(watch: state.lastWatch, mask: 0)
    }
    state.marks[inode]?.mask |= mask
    return state.marks[inode]?.watch
  }

  func remove(_ watch: Int32) {
    guard let inode = state.marks.first(where: { $0.value.watch == watch })?.key else { return }
    state.marks[inode] = nil
    _ = queue(InotifyRecord(watch: watch, mask: UInt32(IN_IGNORED), cookie: 0, name: []))
  }

  func read(_ body: (InotifyRecord) -> Void) {
    let records = state.queue
    state.queue = []
    records.forEach(body)
  }

  func die(_ inode: Int) -> Bool {
    state.dead.insert(inode)
    guard let mark = state.marks.removeValue(forKey: inode) else { return true }
    return queue(InotifyRecord(watch: mark.watch, mask: UInt32(IN_IGNORED), cookie: 0, name: []))
  }

  /// - Returns: Whether there was room.
  func queue(_ record: InotifyRecord) -> Bool {
    if state.queue.count < state.countMax {
      state.queue.append(record)
      return true
    }
    state.hasOverflown = true
    if state.queue.last?.isOverflow == true { return false }
    state.queue.append(.overflow)
    hasJustOverflown = true
    return false
  }
}
