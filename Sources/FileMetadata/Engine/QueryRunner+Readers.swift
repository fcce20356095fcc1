internal import FileWatching
internal import MetadataPredicates
internal import SystemInterface

extension QueryRunner {
  func pause() {
    pauseDepth += 1
    schedule.pause()
  }

  /// The last one reports what has been held back.
  func resume(_ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    if pauseDepth == 0 { return }
    pauseDepth -= 1
    // A batch may have been refused meanwhile.
    _ = schedule.pendingChanged(to: pendingCount, at: time)
    tell(schedule.resume(at: time, flushes: pauseDepth == 0), now, health, at: time)
    tellOwedFinish(now, health, at: time)
  }

  /// A reader has taken the batch that waited, or doesn't need any.
  func taken(_ count: Int, _ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    takenCount = max(takenCount, count)
    let isFlushing = isLate && pauseDepth == 0
    isLate = false
    let offer = offer.take()
    if let offer {
      isForeign = false
      known = offer.version
      if offer.finishesGathering { owesFinish = false }
      forget()
      note(offer.touched, now)
    }
    // The schedule takes refused batches for delivered.
    let delivery = schedule.pendingChanged(to: pendingCount, at: time)
    tell(offer == nil ? delivery : schedule.resume(at: time, flushes: isFlushing), now, health, at: time)
    if isFlushing { flush(now, health, at: time) }
  }

  /// A reader begins, which has nothing.
  func readerBegan(_ count: Int, _ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    if isReordered {
      setFresh(isArriving ? OrderedList(plan.order) : plan.results(now))
    } else {
      var current = fresh ?? known.list
      _ = current.apply(Array(pending.values))
      _ = current.add(found)
      setFresh(current)
    }
    takenCount = max(takenCount, count)
    isLate = false
    owesFinish = true
    if offer.take() != nil { _ = schedule.resume(at: time, flushes: false) }
    let delivery = schedule.pendingChanged(to: pendingCount, at: time)
    tell(delivery, now, health, at: time)
    if !isGathering { flush(now, health, at: time) }
  }

  /// Reports everything now, unless it's paused.
  ///
  /// - Returns: Whether that's done; otherwise it will be, when it's known how many batches a reader has taken.
  @discardableResult
  func flush(_ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) -> Bool {
    if pauseDepth > 0 { return true }
    if isLate { return false }
    if let delivery = schedule.flush() {
      tell(delivery, now, health, at: time)
    } else if let offer, !offer.touched.isEmpty {
      withdraw(offer, now, health, at: time)
    } else {
      tellOwedFinish(now, health, at: time)
    }
    return !isLate
  }

  /// The waiting batch isn't true any more: everything in it has been undone.
  func withdraw(_ undone: Offer, _ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    if undone.finishesGathering { return tell(.update, now, health, at: time) }
    switch port.withdraw(limited(known.list, now), takenCount: takenCount, by: generation) {
    case .taken, .stored:
      offer = nil
      known.snapshot = now
      _ = schedule.resume(at: time, flushes: false)
    case .outdated: isLate = true
    case .paused: break
    }
  }

  /// The end of the first search was to be reported, but to a reader that had gone, or while it was paused.
  func tellOwedFinish(_ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    if owesFinish, !isGathering, !isLate, offer == nil, pauseDepth == 0 { tell(.update, now, health, at: time) }
  }
}
