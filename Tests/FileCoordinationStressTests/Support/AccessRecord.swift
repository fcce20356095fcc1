import SystemInterface

/// One access as its accessor saw it: all of its times were taken while it lasted.
struct AccessRecord: Sendable {
  enum Mode: Hashable, Sendable {
    case read
    case write
    /// A write that concerns everything below the item as well.
    case deepWrite
  }

  struct Item: Hashable, Sendable {
    let path: String
    let mode: Mode

    init(_ path: String, _ mode: Mode) {
      self.path = path
      self.mode = mode
    }
  }

  let actor: String
  let items: [Item]
  /// Accesses of one purpose never block each other.
  let purpose: String
  /// An access and those nested in it have the same number, and never block each other.
  let lineage: Int
  /// The place in the order of requests, where a test has determined it.
  var order = 0
  let requested: Int64
  let granted: Int64
  let released: Int64
}

extension AccessRecord: CustomStringConvertible {
  var description: String {
    let what = items.map { "\($0.mode) \($0.path)" }.joined(separator: ", ")
    return "\(actor) #\(order) [\(what)] requested \(requested) granted \(granted) released \(released)"
  }
}

/// The records of all actors, in no particular order.
final class AccessLog: Sendable {
  private let state = Guarded<(records: [AccessRecord], lastLineage: Int)>(([], 0))

  var records: [AccessRecord] { state.withLock { $0.records } }

  func append(_ record: AccessRecord) { state.withLock { $0.records.append(record) } }

  func newLineage() -> Int {
    state.withLock { state in
      state.lastLineage += 1
      return state.lastLineage
    }
  }

  static var now: Int64 { HostClock.shared.now.nanoseconds }
}
