internal import FileAccessArbiter

/// The use of an item by a claim of the fast tier: a use that concerns the item alone.
///
/// The kinds differ in the messages to presenters, so they matter once another party becomes interested.
package enum PlainAccess: UInt, Hashable, Sendable {
  case read, readWithoutChanges, write, writeForMerging, writeMetadata

  @inline(__always)
  var isWrite: Bool { rawValue >= PlainAccess.write.rawValue }

  var itemAccess: ItemAccess {
    switch self {
    case .read: .read(withoutChanges: false)
    case .readWithoutChanges: .read(withoutChanges: true)
    case .write: .write(.update)
    case .writeForMerging: .write(.merging)
    case .writeMetadata: .write(.metadataOnly)
    }
  }
}

extension FileCoordinator.ReadingOptions {
  /// The plain access with these options, wherever it leads; `nil` for those that need the arbiter.
  @inline(__always)
  var plainAccess: PlainAccess? {
    let reading = subtracting(.resolvesSymbolicLink)
    if reading == [] { return .read }
    return reading == .withoutChanges ? .readWithoutChanges : nil
  }
}

extension FileCoordinator.WritingOptions {
  /// The plain access for this reason; `nil` for one that needs the arbiter.
  @inline(__always)
  var plainAccess: PlainAccess? {
    if self == .forUpdating { return .write }
    if self == .forMerging { return .writeForMerging }
    return self == .contentIndependentMetadataOnly ? .writeMetadata : nil
  }
}
