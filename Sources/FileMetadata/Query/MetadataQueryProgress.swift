internal import FileWatching

/// How far the first search is.
public struct MetadataQueryProgress: Hashable, Sendable {
  /// How many directories have been read.
  public var readDirectoryCount = 0
  /// How many directories have been found, read or not: grows as long as directories are found in others.
  public var knownDirectoryCount = 0
  /// How many files and directories are in the index, results or not.
  public var fileCount = 0
  /// Whether the first search is over.
  public var isFinished = false

  /// Makes the progress of a search that hasn't begun.
  public init() {}

  /// The part of the found directories that has been read, from 0 to 1; 1 only when the search is over.
  ///
  /// May go back when a directory turns out to have many others in it.
  public var fraction: Double {
    if isFinished { return 1 }
    return knownDirectoryCount == 0 ? 0 : min(0.99, Double(readDirectoryCount) / Double(knownDirectoryCount))
  }
}

extension MetadataQueryProgress {
  init(_ indexer: ScopeIndexer) {
    readDirectoryCount = indexer.readCount
    knownDirectoryCount = indexer.knownDirectoryCount
    fileCount = indexer.index.count
  }
}
