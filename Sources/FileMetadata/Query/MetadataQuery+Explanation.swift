public import MetadataPredicates
internal import SystemInterface
public import FileWatching

extension MetadataQuery {
  /// How a query finds its results.
  public struct Explanation: Hashable, Sendable, CustomStringConvertible {
    /// The tests that are made, in their order, and which of them the index answers by itself.
    public let predicate: PredicateExplanation
    /// The parts that no file can fulfil, or every file does, because of the values that attributes can have.
    public let warnings: [PredicateWarning]
    /// The paths of the directories that are searched, and of the files that are watched themselves.
    public let places: [String]
    /// The attributes that results are ordered by, all of them in the index.
    public let sortAttributes: [String]
    /// Whether sizes, dates or owners are needed, which takes statx(2) for each file.
    public let needsStatuses: Bool
    /// Whether a first search is over when names are known.
    public let gathersNamesFirst: Bool
    /// How well the places are followed at this moment; nothing before the query is started.
    public let health: ScopeHealth

    /// One line for each.
    public var description: String {
      var lines = predicate.description.split(separator: "\n").map(String.init)
      lines += warnings.map { "warning: \($0)" }
      lines += places.map { "searches \($0)" }
      lines.append("sorted by: " + (sortAttributes.isEmpty ? "nothing" : sortAttributes.joined(separator: ", ")))
      lines.append(
        needsStatuses
          ? "statx(2) for each file: sizes, dates or owners are needed"
          : gathersNamesFirst
            ? "statx(2) for directories only, for files afterwards" : "statx(2) for each file, to compare it later")
      lines.append(
        "watches: \(health.watchedDirectoryCount) used, \(health.processWatchCountMax) for this process, "
          + "\(health.polledDirectoryCount) directories polled")
      return lines.joined(separator: "\n")
    }
  }

  /// Explains how the query finds its results.
  ///
  /// - Complexity: O(*n*) in the size of the predicate.
  public var explanation: Explanation {
    Explanation(
      predicate: plan.predicate.explanation(indexed: FileAttribute.indexedNames),
      warnings: plan.predicate.predicate.warnings(providers: key.providers),
      places: key.index.reaches.map(\.path.description), sortAttributes: plan.order.descriptors.map(\.attribute),
      needsStatuses: plan.needsFacts, gathersNamesFirst: key.options.gatheringDepth == .names, health: health)
  }
}
