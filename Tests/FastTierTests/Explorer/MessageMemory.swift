/// The memory of C++20, as far as the tier uses it: loads may be stale, stores may be late.
///
/// A word has messages in an order of modification: the newest one is the word in ``ModelState``, the stale ones that
/// some thread may still read are entries, sorted by word and order. A view says what its owner can't miss any more: the
/// entries that are hidden from it, and the events that it knows (``ModelEvents``). A thread has a view, and so has each
/// message: that of its writer if it's releasing, and that of the message that an update has replaced, as part of the
/// same release sequence. So one view joins another by a union of bits.
///
/// * A load reads any message that isn't hidden from its thread, and hides those before it: coherence. An acquiring one
///   joins the view of the message.
/// * A store comes behind any message that isn't hidden from its thread, also before others that the thread hasn't seen.
/// * An update, which is atomic, reads such a message and comes right behind it: nothing can come between.
/// * The order of steps is the order S of sequentially consistent operations. Such an operation hides, from all later
///   ones, the messages of its word before the one that it reads or writes. That is what "coherence-ordered before"
///   demands in C++20, and no more: it's no fence, so that others around it are ordered only as far as it acquires and
///   releases.
///
/// C++20 allows some behaviour that this memory doesn't: values out of thin air, and load buffering, because no operation
/// is done before those in front of it in its thread; and orders S that contradict what has been read, which needs
/// releasing stores and sequentially consistent updates of one word by threads that nothing orders. Fences and consuming
/// loads don't exist here, as the tier has none.
///
/// Entries that are hidden from all threads vanish. So do those hidden from all sequentially consistent operations, at
/// words that have no others; which words have others is found out while exploring, and then it begins anew.
struct MessageMemory {
  /// How many entries there can be: the last bit of a view says that its thread is done.
  static let entryCountMax = 63

  let state: ModelState
  let threadCount: Int
  /// How many stale messages threads may read or write behind, all together.
  private let lateCountMax: UInt64
  /// For each word, as a bit, whether some operation on it isn't sequentially consistent.
  private let weakWords = Words(count: ModelState.memoryWordCount / 64)
  private let cells = Words(count: 4)

  // The meanings of the cells.
  private static let choice = 0
  private static let choiceCount = 1
  private static let isIncomplete = 2
  private static let isLate = 3

  init(_ state: ModelState, threadCount: Int, lateCountMax: Int?) {
    self.state = state
    self.threadCount = threadCount
    self.lateCountMax = lateCountMax.map(UInt64.init) ?? .max
  }

  func deallocate() {
    weakWords.deallocate()
    cells.deallocate()
  }

  // MARK: Choices

  /// Says which of its messages the next operation that has several takes: zero for the newest one.
  func prepare(choice: Int) {
    cells[Self.choice] = UInt64(choice)
    cells[Self.choiceCount] = 1
  }

  /// How many messages the operations since then could have taken.
  var choiceCount: Int { Int(cells[Self.choiceCount]) }

  /// Whether the last operation took a message other than the newest one.
  var isLate: Bool { cells[Self.isLate] != 0 }

  func beginOperation() { cells[Self.isLate] = 0 }

  /// Whether a word got an operation that isn't sequentially consistent when entries of it may have been left out.
  ///
  /// Asking resets it.
  func takeIncompleteness() -> Bool {
    let isIncomplete = cells[Self.isIncomplete] != 0
    cells[Self.isIncomplete] = 0
    return isIncomplete
  }

  var isIncomplete: Bool { cells[Self.isIncomplete] != 0 }

  @inline(__always)
  private func isWeak(_ word: Int) -> Bool { weakWords[word >> 6] &>> UInt64(word & 63) & 1 != 0 }

  private func note(_ ordering: Ordering, at word: Int) {
    if ordering == .sequentiallyConsistent || isWeak(word) { return }
    weakWords[word >> 6] |= 1 << UInt64(word & 63)
    cells[Self.isIncomplete] = 1
  }

  /// The bits that hide entries from an operation.
  @inline(__always)
  private func hidden(_ thread: Int, _ ordering: Ordering) -> UInt64 {
    let own = state[ModelState.view(of: thread)]
    return ordering == .sequentiallyConsistent ? own | state[ModelState.sequentialView] : own
  }

  @inline(__always)
  private static func bits(_ lower: Int, _ upper: Int) -> UInt64 { (1 &<< UInt64(upper)) &- (1 &<< UInt64(lower)) }

  /// The entries of a word: those from `lower` to before `upper`; a message at `upper` is the newest one.
  private func entries(of word: Int) -> (lower: Int, upper: Int) {
    let count = Int(state[ModelState.entryCount])
    if count == 0 { return (0, 0) }
    var lower = 0
    while lower < count, state.entryWord(lower) < word { lower &+= 1 }
    var upper = lower
    while upper < count, state.entryWord(upper) == word { upper &+= 1 }
    return (lower, upper)
  }

  /// Whether a load can only read the newest message, and makes no difference to operations of others.
  func isSettled(_ thread: Int, _ word: Int, _ ordering: Ordering) -> Bool {
    let (lower, upper) = entries(of: word)
    let seen = ordering == .sequentiallyConsistent ? state[ModelState.sequentialView] : hidden(thread, ordering)
    return Self.bits(lower, upper) & ~seen == 0
  }

  /// The effect of an operation on the word.
  private enum Use {
    case read, write, update
    /// An update if the value is this one.
    case updateIf(UInt64)
  }

  private func canTake(_ place: Int, _ use: Use) -> Bool {
    switch use {
    case .read: true
    case .write, .update: !state.isEntryFollowedByUpdate(place)
    case .updateIf(let value): state[ModelState.entryValue(place)] != value || !state.isEntryFollowedByUpdate(place)
    }
  }

  /// Chooses the message that an operation reads, or behind which it writes.
  private func take(
    _ use: Use, _ thread: Int, _ entries: (lower: Int, upper: Int), _ ordering: Ordering
  ) -> Int {
    let (lower, upper) = entries
    if state[ModelState.lateCount] == lateCountMax || lower == upper { return upper }
    let hidden = hidden(thread, ordering)
    var wanted = Int(cells[Self.choice])
    var result = upper
    var count = 1
    var place = upper &- 1
    while place >= lower, hidden &>> UInt64(place) & 1 == 0 {
      if canTake(place, use) {
        count &+= 1
        wanted &-= 1
        if wanted == 0 { result = place }
      }
      place &-= 1
    }
    if count == 1 { return upper }
    precondition(cells[Self.choiceCount] == 1, "a step has two choices")
    cells[Self.choice] = 0
    cells[Self.choiceCount] = UInt64(count)
    if result == upper { return upper }
    cells[Self.isLate] = 1
    if lateCountMax != .max { state[ModelState.lateCount] += 1 }
    return result
  }

  // MARK: Operations

  func load(_ thread: Int, _ word: Int, _ ordering: Ordering) -> UInt64 {
    note(ordering, at: word)
    let entries = entries(of: word)
    let place = take(.read, thread, entries, ordering)
    see(thread, word, entries, place, ordering)
    return place == entries.upper ? state[word] : state[ModelState.entryValue(place)]
  }

  func store(_ thread: Int, _ word: Int, _ value: UInt64, _ ordering: Ordering) {
    note(ordering, at: word)
    let entries = entries(of: word)
    let place = take(.write, thread, entries, ordering)
    put(value, thread, word, entries, after: place, isUpdate: false, ordering)
  }

  /// Does an atomic update: `result` says what of a value, `nil` if it stays.
  ///
  /// - Returns: The value that it read.
  func update(
    _ thread: Int, _ word: Int, _ ordering: Ordering, expected: UInt64?, _ result: (UInt64) -> UInt64
  ) -> UInt64 {
    note(ordering, at: word)
    let entries = entries(of: word)
    let use = expected.map(Use.updateIf) ?? .update
    let place = take(use, thread, entries, ordering)
    see(thread, word, entries, place, ordering)
    let old = place == entries.upper ? state[word] : state[ModelState.entryValue(place)]
    if let expected, expected != old { return old }
    put(result(old), thread, word, entries, after: place, isUpdate: true, ordering)
    return old
  }

  /// Has a thread read a message.
  private func see(
    _ thread: Int, _ word: Int, _ entries: (lower: Int, upper: Int), _ place: Int, _ ordering: Ordering
  ) {
    let own = ModelState.view(of: thread)
    let older = Self.bits(entries.lower, place)
    state[own] |= older
    if ordering == .sequentiallyConsistent { state[ModelState.sequentialView] |= older }
    if !ordering.acquires { return }
    join(place == entries.upper ? ModelState.newestView(of: word) : ModelState.entryView(place), into: own)
  }

  private func put(
    _ value: UInt64, _ thread: Int, _ word: Int, _ entries: (lower: Int, upper: Int), after place: Int, isUpdate: Bool,
    _ ordering: Ordering
  ) {
    if ordering.releases { announceEvents(of: thread) }
    let isNewest = place == entries.upper
    let isKept =
      state[ModelState.lateCount] != lateCountMax
      && (isWeak(word) || ordering != .sequentiallyConsistent || entries.lower != entries.upper)
    let view = isNewest ? ModelState.newestView(of: word) : ModelState.entryView(place + 1)
    if isKept {
      isNewest ? addNewest(word, at: place, isUpdate) : addEntry(value, word, behind: place, isUpdate)
      let older = Self.bits(entries.lower, place + 1)
      state[ModelState.view(of: thread)] |= older
      if ordering == .sequentiallyConsistent { state[ModelState.sequentialView] |= older }
      // An update continues the release sequence of the message before it.
      if isUpdate { join(ModelState.entryView(place), into: view) }
    } else if !isUpdate {
      state[view] = 0
      state[view + 1] = 0
    }
    if isNewest { state[word] = value }
    if ordering.releases { join(ModelState.view(of: thread), into: view) }
    noteNewestView(of: word)
  }

  /// Makes the newest message an entry.
  private func addNewest(_ word: Int, at place: Int, _ isUpdate: Bool) {
    open(place, copiesBefore: false)
    state.setEntry(place, word, state[word], isFollowedByUpdate: isUpdate)
    let newest = ModelState.newestView(of: word)
    join(newest, into: ModelState.entryView(place))
    state[newest] = 0
    state[newest + 1] = 0
  }

  /// Adds an entry behind another: hidden from the same views as that one.
  private func addEntry(_ value: UInt64, _ word: Int, behind place: Int, _ isUpdate: Bool) {
    open(place + 1, copiesBefore: true)
    state.setEntry(place + 1, word, value, isFollowedByUpdate: false)
    if isUpdate { state.setEntry(place, word, state[ModelState.entryValue(place)], isFollowedByUpdate: true) }
  }

  // MARK: Views

  func join(_ source: Int, into target: Int) {
    state[target] |= state[source]
    state[target + 1] |= state[source + 1]
  }

  /// Remembers which words' newest messages have views, to find those.
  private func noteNewestView(of word: Int) {
    let view = ModelState.newestView(of: word)
    let bit: UInt64 = 1 << UInt64(word & 63)
    if state[view] | state[view + 1] != 0 {
      state[ModelState.viewedWords + word >> 6] |= bit
    } else {
      state[ModelState.viewedWords + word >> 6] &= ~bit
    }
  }

  /// A change of all views.
  private enum Change {
    /// Bits from this one on move up; the bits there are copied from the one before, or are zero.
    case open(Int, copiesBefore: Bool)
    case close(Int)
    case forgetEvents(UInt64)
  }

  private func changeAllViews(_ change: Change) {
    var thread = 0
    while thread < threadCount {
      self.change(change, ModelState.view(of: thread))
      self.change(change, ModelState.wakeView(of: thread))
      thread &+= 1
    }
    self.change(change, ModelState.lockView)
    self.change(change, ModelState.sequentialView)
    var entry = Int(state[ModelState.entryCount])
    while entry > 0 {
      entry &-= 1
      self.change(change, ModelState.entryView(entry))
    }
    var index = 0
    while index < ModelState.memoryWordCount / 64 {
      var bits = state[ModelState.viewedWords + index]
      while bits != 0 {
        let word = index << 6 + bits.trailingZeroBitCount
        self.change(change, ModelState.newestView(of: word))
        noteNewestView(of: word)
        bits &= bits &- 1
      }
      index &+= 1
    }
  }

  private func change(_ change: Change, _ view: Int) {
    let hidden = state[view]
    switch change {
    case .open(let bit, let copiesBefore):
      if hidden == 0 || hidden == .max { return }
      let low = Self.bits(0, bit)
      var moved = hidden & low | (hidden & ~low) << 1
      if copiesBefore, hidden &>> UInt64(bit - 1) & 1 != 0 { moved |= 1 << UInt64(bit) }
      state[view] = moved
    case .close(let bit):
      if hidden == 0 || hidden == .max { return }
      let low = Self.bits(0, bit)
      state[view] = hidden & low | hidden >> 1 & ~low
    case .forgetEvents(let events):
      if hidden != .max { state[view + 1] &= ~events }
    }
  }

  // MARK: Entries

  private func open(_ index: Int, copiesBefore: Bool) {
    let count = Int(state[ModelState.entryCount])
    precondition(count < Self.entryCountMax, "there are too many stale messages")
    changeAllViews(.open(index, copiesBefore: copiesBefore))
    state[ModelState.entryCount] = UInt64(count + 1)
    for entry in (index..<count).reversed() { state.copyEntry(entry, to: entry + 1) }
    state.clearEntry(index)
  }

  private func close(_ index: Int) {
    let count = Int(state[ModelState.entryCount])
    for entry in index + 1..<max(count, index + 1) { state.copyEntry(entry, to: entry - 1) }
    state.clearEntry(count - 1)
    state[ModelState.entryCount] = UInt64(count - 1)
    changeAllViews(.close(index))
  }

  /// Forgets what no thread can read any more, and events that all threads know.
  func forgetTheUnreadable() {
    var hidden = UInt64.max
    var events = state[ModelState.pendingEvents]
    var thread = 0
    while thread < threadCount {
      hidden &= state[ModelState.view(of: thread)]
      events &= state[ModelState.view(of: thread) &+ 1]
      thread &+= 1
    }
    let isOver = state[ModelState.lateCount] == lateCountMax
    var index = Int(state[ModelState.entryCount])
    while index > 0 {
      index &-= 1
      let isUnreadable = hidden &>> UInt64(index) & 1 != 0
      let isUnreadableInOrder = state[ModelState.sequentialView] &>> UInt64(index) & 1 != 0
      if isOver || isUnreadable || isUnreadableInOrder && !isWeak(state.entryWord(index)) { close(index) }
    }
    if events == 0 { return }
    state[ModelState.pendingEvents] &= ~events
    changeAllViews(.forgetEvents(events))
  }

  /// Has a thread done its last operation.
  func retire(_ thread: Int) {
    state[ModelState.view(of: thread)] = .max
    state[ModelState.view(of: thread) + 1] = .max
  }
}

// MARK: - Events

extension MessageMemory {
  /// Records events of a thread; others know them when they have acquired what the thread releases from now on.
  func record(_ events: UInt64, by thread: Int) { state[ModelState.ownEvents(of: thread)] |= events }

  /// Those of the events that have happened and that a thread may not know.
  func unknownEvents(_ events: UInt64, to thread: Int) -> UInt64 {
    var unknown = events & state[ModelState.pendingEvents] & ~state[ModelState.view(of: thread) + 1]
    var other = 0
    while other < threadCount {
      if other != thread { unknown |= events & state[ModelState.ownEvents(of: other)] }
      other &+= 1
    }
    return unknown
  }

  /// The thread is about to release: only threads that acquire that know its events.
  func announceEvents(of thread: Int) {
    let events = state[ModelState.ownEvents(of: thread)]
    if events == 0 { return }
    state[ModelState.ownEvents(of: thread)] = 0
    changeAllViews(.forgetEvents(events))
    state[ModelState.view(of: thread) + 1] |= events
    state[ModelState.pendingEvents] |= events
  }
}
