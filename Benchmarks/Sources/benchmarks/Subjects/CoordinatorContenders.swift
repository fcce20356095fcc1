import FileCoordination

/// Our own forms of a claim, as contenders.
enum CoordinatorContenders {
  static let handle = "by-handle"
  static let path = "by-path"
  static let url = "by-url"
  static let cachedURL = "by-url-cached"
  static let linkedURL = "by-url-link"
  static let async = "by-handle-async"

  static func all(_ tree: TemporaryTree) -> [Contender] {
    let trustingDomain = domainThatTrustsIdentities()
    return [
      Contender(handle, "claim by handle", isOurs: true) { _, item in try HandleWorker(tree.paths[item]) }
        .above(Floors.atomics),
      Contender(async: async, "claim by handle, async", isOurs: true, scenarios: Scenario.upToTwoThreads) { _, item in
        try AsyncHandleWorker(tree.paths[item])
      }.above(Floors.atomics),
      Contender(path, "claim by path", isOurs: true, scenarios: Scenario.upToTwoThreads) { _, item in
        PathWorker(tree.paths[item])
      }.above(Floors.atomics),
      Contender(url, "claim by URL", isOurs: true, scenarios: Scenario.upToTwoThreads) { _, item in
        URLWorker(tree.paths[item])
      }.above(Floors.systemCall),
      Contender(cachedURL, "claim by URL, looked at each second", isOurs: true, scenarios: Scenario.upToTwoThreads) {
        _, item in URLWorker(tree.paths[item], trustingDomain)
      }.above(Floors.atomics),
      Contender(linkedURL, "claim by URL, through a link", isOurs: true, scenarios: Scenario.alone) { _, item in
        URLWorker(tree.linkedPaths[item])
      }.above(Floors.systemCall),
    ]
  }
}
