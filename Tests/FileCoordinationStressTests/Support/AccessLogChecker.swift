/// Judges a log by the rules of blocking, written down a second time and without use of the library.
///
/// Same item: two accesses conflict if one of them writes. An item and one inside it: they conflict if the outer access
/// is a deep write. Accesses of one purpose or one lineage never conflict.
enum AccessLogChecker {
  /// Pairs of conflicting accesses that lasted at the same time.
  ///
  /// - Complexity: O(*n* log *n*) in the number of records, for bounded depth and concurrency: one sweep over time.
  static func overlaps(in records: [AccessRecord]) -> [String] {
    var sweep = Sweep(records)
    var moments: [(time: Int64, isGrant: Bool, index: Int)] = []
    for (index, record) in records.enumerated() {
      moments.append((record.granted, true, index))
      moments.append((max(record.released, record.granted + 1), false, index))
    }
    // At the same time the end comes first: an access that ends when another begins doesn't overlap it.
    moments.sort { ($0.time, $0.isGrant ? 1 : 0, $0.index) < ($1.time, $1.isGrant ? 1 : 0, $1.index) }
    for moment in moments {
      if moment.isGrant { sweep.begin(moment.index) } else { sweep.end(moment.index) }
    }
    return sweep.findings
  }

  /// Accesses that were granted before a conflicting one that had been requested earlier.
  ///
  /// Sound only where ``AccessRecord/order`` is the order in which the domain got the requests.
  ///
  /// - Complexity: O(*n* log *n*) in the number of records, for bounded depth.
  static func overtakes(in records: [AccessRecord]) -> [String] {
    // The latest grant of each kind among the earlier requests, by path.
    var read: [String: Int64] = [:], write: [String: Int64] = [:], deep: [String: Int64] = [:],
      below: [String: Int64] = [:]
    func raise(_ table: inout [String: Int64], _ path: String, _ time: Int64) {
      table[path] = max(table[path] ?? time, time)
    }
    var findings: [String] = []
    for record in records.sorted(by: { $0.order < $1.order }) {
      var latest = Int64.min
      for item in record.items {
        var rivals = [write[item.path]]
        if item.mode != .read { rivals.append(read[item.path]) }
        if item.mode == .deepWrite { rivals.append(below[item.path]) }
        rivals += ancestors(of: item.path).map { deep[$0] }
        latest = max(latest, rivals.compactMap(\.self).max() ?? .min)
      }
      if record.granted < latest {
        findings.append("granted before an earlier request that it conflicts with: \(record)")
      }
      for item in record.items {
        if item.mode == .read {
          raise(&read, item.path, record.granted)
        } else {
          raise(&write, item.path, record.granted)
        }
        if item.mode == .deepWrite { raise(&deep, item.path, record.granted) }
        for ancestor in ancestors(of: item.path) { raise(&below, ancestor, record.granted) }
      }
    }
    return findings
  }

  /// The directories around an item, without the root.
  static func ancestors(of path: String) -> [String] {
    path.indices.dropFirst().filter { path[$0] == "/" }.map { String(path[..<$0]) }
  }
}

/// The accesses that last at one moment.
private struct Sweep {
  private typealias Entry = (index: Int, mode: AccessRecord.Mode)

  let records: [AccessRecord]
  var findings: [String] = []
  private var here: [String: [Entry]] = [:]
  private var below: [String: [Entry]] = [:]

  init(_ records: [AccessRecord]) { self.records = records }

  mutating func begin(_ index: Int) {
    for item in records[index].items {
      for entry in here[item.path] ?? [] where item.mode != .read || entry.mode != .read { note(index, entry.index) }
      if item.mode == .deepWrite { for entry in below[item.path] ?? [] { note(index, entry.index) } }
      for ancestor in AccessLogChecker.ancestors(of: item.path) {
        for entry in here[ancestor] ?? [] where entry.mode == .deepWrite { note(index, entry.index) }
      }
    }
    for item in records[index].items {
      here[item.path, default: []].append((index, item.mode))
      for ancestor in AccessLogChecker.ancestors(of: item.path) {
        below[ancestor, default: []].append((index, item.mode))
      }
    }
  }

  mutating func end(_ index: Int) {
    for item in records[index].items {
      here[item.path]?.removeAll { $0.index == index }
      for ancestor in AccessLogChecker.ancestors(of: item.path) { below[ancestor]?.removeAll { $0.index == index } }
    }
  }

  private mutating func note(_ left: Int, _ right: Int) {
    let (first, second) = (records[left], records[right])
    if left == right || first.lineage == second.lineage || first.purpose == second.purpose { return }
    findings.append("at the same time: \(first) and \(second)")
  }
}
