internal import CompactContainers
internal import FileAccessArbiter
internal import FoundationEssentials
internal import SystemInterface

/// The request of a call, checked and resolved before any other party is involved.
struct AccessPlan {
  struct Item {
    let access: ItemAccess
    let location: FileLocation
    var isUpload = false
    /// It was moved before this was asked for, while an earlier request of the same call waited.
    var wasMoved = false
  }

  /// The action of the call, for errors: "couldn't read …".
  let verb: String
  var items: ShortList<Item> = []
  var intents: [FileAccessIntent] = []
  var isPreparation = false
  /// All options of all reads, for the origin of messages.
  var readingOptions: FileCoordinator.ReadingOptions = []

  var subjects: [String] { items.map { $0.location.path.description } }

  init(_ verb: String) { self.verb = verb }

  mutating func addReading(
    _ url: URL, _ options: FileCoordinator.ReadingOptions, _ places: Places
  ) throws(FileCoordinationError) {
    _ = try options.itemAccess(url: url.absoluteString)
    if isPreparation { try refuse(options.contains(.resolvesSymbolicLink), ".resolvesSymbolicLink", url) }
    try addReading(
      places.location(of: url, followingLastLink: options.contains(.resolvesSymbolicLink)), options)
  }

  mutating func addWriting(
    _ url: URL, _ options: FileCoordinator.WritingOptions, _ places: Places
  ) throws(FileCoordinationError) {
    if isPreparation { try refuse(options == .forReplacing, ".forReplacing", url) }
    addWriting(try places.location(of: url), options)
  }

  mutating func addReading(
    _ location: FileLocation, _ options: FileCoordinator.ReadingOptions
  ) throws(FileCoordinationError) {
    let access = try options.itemAccess(url: location.url.absoluteString)
    readingOptions.formUnion(options)
    items.append(Item(access: access, location: location, isUpload: options.contains(.forUploading) && !isPreparation))
  }

  mutating func addWriting(_ location: FileLocation, _ options: FileCoordinator.WritingOptions) {
    items.append(Item(access: options.itemAccess, location: location))
  }

  private func refuse(_ isGiven: Bool, _ option: String, _ url: URL) throws(FileCoordinationError) {
    if isGiven { throw .optionNotAllowed(option, in: "prepare", url: url.absoluteString) }
  }

  /// Finds where URLs lead.
  ///
  /// Requests for many items don't go through the cache: they would turn everything else out.
  enum Places {
    case remembered(ResolutionCache)
    case resolved(any FileSystem)

    fileprivate func location(
      of url: URL, followingLastLink: Bool = false
    ) throws(FileCoordinationError) -> FileLocation {
      switch self {
      case .remembered(let cache): try cache.item(for: url, followingLastLink: followingLastLink).location
      case .resolved(let fileSystem): try FileLocation(url, followingLastLink: followingLastLink, in: fileSystem)
      }
    }
  }

  static func checkCount(_ count: Int) throws(FileCoordinationError) {
    if count == 0 { throw .noItems }
    if count > FileCoordinator.itemCountMax { throw .tooManyItems(count) }
  }
}

extension FileCoordinator {
  private var places: AccessPlan.Places { .remembered(host.identities) }

  func readingPlan(_ item: ResolvedItem, _ options: ReadingOptions) throws(FileCoordinationError) -> AccessPlan {
    var plan = AccessPlan("read")
    try plan.addReading(item.location, options)
    return plan
  }

  func writingPlan(_ item: ResolvedItem, _ options: WritingOptions) -> AccessPlan {
    var plan = AccessPlan(options.verb)
    plan.addWriting(item.location, options)
    return plan
  }

  func readingAndWritingPlan(
    _ readingURL: URL, _ readingOptions: ReadingOptions, _ writingURL: URL, _ writingOptions: WritingOptions
  ) throws(FileCoordinationError) -> AccessPlan {
    var plan = AccessPlan("read and write")
    try plan.addReading(readingURL, readingOptions, places)
    try plan.addWriting(writingURL, writingOptions, places)
    return plan
  }

  func writingTwoPlan(
    _ first: URL, _ firstOptions: WritingOptions, _ second: URL, _ secondOptions: WritingOptions
  ) throws(FileCoordinationError) -> AccessPlan {
    var plan = AccessPlan(firstOptions.verb)
    try plan.addWriting(first, firstOptions, places)
    try plan.addWriting(second, secondOptions, places)
    return plan
  }

  func plan(for intents: [FileAccessIntent]) throws(FileCoordinationError) -> AccessPlan {
    try AccessPlan.checkCount(intents.count)
    let places = AccessPlan.Places.resolved(fileSystem)
    var plan = AccessPlan("access")
    plan.intents = intents
    plan.items.reserveCapacity(intents.count)
    for intent in intents {
      switch intent.kind {
      case .reading(let options): try plan.addReading(intent.originalURL, options, places)
      case .writing(let options): try plan.addWriting(intent.originalURL, options, places)
      }
    }
    return plan
  }

  func preparationPlan(
    _ reading: [URL], _ readingOptions: ReadingOptions, _ writing: [URL], _ writingOptions: WritingOptions
  ) throws(FileCoordinationError) -> AccessPlan {
    try AccessPlan.checkCount(reading.count + writing.count)
    let places = AccessPlan.Places.resolved(fileSystem)
    var plan = AccessPlan("prepare access to")
    plan.isPreparation = true
    plan.items.reserveCapacity(reading.count + writing.count)
    for url in reading { try plan.addReading(url, readingOptions, places) }
    for url in writing { try plan.addWriting(url, writingOptions, places) }
    return plan
  }
}

extension FileCoordinator.WritingOptions {
  /// The action of a write for this reason, for errors: "couldn't delete …".
  var verb: String {
    switch self {
    case .forDeleting: "delete"
    case .forMoving: "move"
    case .forReplacing: "replace"
    default: "write"
    }
  }
}
