/// How far a scope reaches, and what it may use.
public struct ScopeOptions: Hashable, Sendable {
  /// Whether what is mounted inside the scope belongs to it.
  public var includesMountedVolumes: Bool
  /// How many directories may be watched; the others are looked at from time to time.
  ///
  /// All programs of a user share the kernel's limit, `max_user_watches`.
  public var watchCountMax: Int

  /// Makes options.
  ///
  /// - Parameters:
  ///   - includesMountedVolumes: Whether what is mounted inside the scope belongs to it.
  ///   - watchCountMax: How many directories may be watched.
  public init(includesMountedVolumes: Bool = true, watchCountMax: Int = .max) {
    self.includesMountedVolumes = includesMountedVolumes
    self.watchCountMax = watchCountMax
  }
}
