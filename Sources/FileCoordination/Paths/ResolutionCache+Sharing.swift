internal import SystemInterface

extension ResolutionCache {
  private struct Setup: Hashable, Sendable {
    let packageExtensions: Set<String>
    let checkInterval: Duration
  }

  private struct WeakCache: Sendable {
    weak let cache: ResolutionCache?
  }

  /// Caches of the host's files, by how they are set up.
  ///
  /// Guarded by its lock, because domains are made on any thread.
  private static let caches = Guarded<[Setup: WeakCache]>([:])

  /// The cache of all domains that are set up alike.
  ///
  /// Where a URL leads doesn't depend on the domain, so one check for changes suffices for all of them.
  static func shared(
    in files: any FileSystem, packageExtensions: Set<String>, checkInterval: Duration
  ) -> ResolutionCache {
    guard files is HostFileSystem else {
      return ResolutionCache(in: files, packageExtensions: packageExtensions, checkInterval: checkInterval)
    }
    let setup = Setup(packageExtensions: packageExtensions, checkInterval: checkInterval)
    let fresh = ResolutionCache(in: files, packageExtensions: packageExtensions, checkInterval: checkInterval)
    return caches.withLock { caches in
      if let cache = caches[setup]?.cache { return cache }
      caches = caches.filter { $0.value.cache != nil }
      caches[setup] = WeakCache(cache: fresh)
      return fresh
    }
  }
}
