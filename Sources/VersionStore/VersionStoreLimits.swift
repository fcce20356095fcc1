/// Sizes from which on a store works otherwise.
package struct VersionStoreLimits: Hashable, Sendable {
  /// How many bytes a file may have that's hashed before it becomes a version.
  package var sizeHashedAtOnceMax: Int64
  /// How many records a list may read before it leaves a cache behind.
  package var uncachedCountMax: Int

  package init(sizeHashedAtOnceMax: Int64 = 1 << 18, uncachedCountMax: Int = 32) {
    self.sizeHashedAtOnceMax = sizeHashedAtOnceMax
    self.uncachedCountMax = uncachedCountMax
  }
}
