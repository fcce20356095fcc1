/// Benchmarks that are run together.
///
/// To add some, make a `Suite` and name it in ``all``; `--filter` and `--list` find it there.
package struct Suite: Sendable {
  /// Components divided by slashes; a filter selects by the first ones, and goes on with those of a row.
  package let name: String
  /// The beginning of the names of its rows.
  let rows: String
  /// One line for `--list`.
  let summary: String
  /// Measures, and adds rows, targets, counters and the absent peers to the report.
  let run: @Sendable (Laboratory, inout Report) throws -> Void

  init(
    name: String, rows: String? = nil, summary: String,
    run: @escaping @Sendable (Laboratory, inout Report) throws -> Void
  ) {
    self.name = name
    self.rows = rows ?? name
    self.summary = summary
    self.run = run
  }

  /// In the order in which they run.
  ///
  /// The one with a million of everything is the last that measures memory.
  static let all = [
    claimsTable, claimsCounters, claimsPresenters, claimsDeadlocks, claimsScale, processes, processesScale, predicates,
    query, queryLive, queryWatches, versions, documents, values, valuesShared, queryScale,
  ]

  /// The suites that a filter selects.
  ///
  /// - Parameter filter: The first components of the name of a suite or of a row; `nil` for all.
  /// - Returns: The suites; empty if the filter selects none.
  package static func selected(by filter: String?) -> [Suite] {
    guard let filter else { return all }
    let named = all.filter { $0.isNamed(by: filter) }
    if !named.isEmpty { return named }
    // The row of one suite; others whose names are shorter have no row of that name.
    return all.filter { filter.hasPrefix("\($0.rows)/") }.max { $0.rows.count < $1.rows.count }.map { [$0] } ?? []
  }

  /// Whether a filter names the suite, and so all of its rows.
  package func isNamed(by filter: String) -> Bool { "\(name)/".hasPrefix("\(filter)/") }
}
