internal import KeyValueReplicas
internal import SystemInterface

/// The work that a store does for one account beside its callers.
struct StoreConnection: Sendable {
  let account: String?
  let synchronizer: StoreSynchronizer?
  private let task: Task<Void, Never>?

  init(
    _ engine: StoreEngine, _ configuration: KeyValueStore.Configuration, _ account: String?, files: any FileSystem,
    now: @escaping @Sendable () -> Int64
  ) {
    self.account = account
    // Values without an account belong to this device, until somebody signs in.
    let synchronizer = (account == nil ? nil : configuration.sharing).map { sharing in
      StoreSynchronizer(engine, sharing, account: account, configuration.clock, files: files, now: now)
    }
    self.synchronizer = synchronizer
    task = synchronizer.map { synchronizer in
      Task(executorPreference: ElasticThreadPool.shared) { await synchronizer.run() }
    }
  }

  func end() { task?.cancel() }
}
