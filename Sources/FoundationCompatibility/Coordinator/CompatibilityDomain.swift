#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import SystemInterface

  /// Where everything with Apple's names meets others.
  enum CompatibilityDomain {
    private static let chosen = Guarded<CoordinationDomain?>(nil)
    private static let strangers = Guarded(true)

    static var observesStrangers: Bool {
      get { strangers.withLock { $0 } }
      set { strangers.withLock { $0 = newValue } }
    }

    static var current: CoordinationDomain { chosen.withLock { $0 } ?? .standard }

    static func use(_ domain: CoordinationDomain) { chosen.withLock { $0 = domain } }
  }
#endif
