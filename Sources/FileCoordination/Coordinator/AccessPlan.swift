internal import FileAccessArbiter
internal import FoundationEssentials
internal import SystemInterface

/// What a call asks for, checked and resolved, before anybody is bothered.
struct AccessPlan {
  struct Item {
    let access: ItemAccess
    let location: FileLocation
    var isUpload = false
  }

  /// What the call does, for errors: "couldn't read …".
  let verb: String
  var items: [Item] = []
  var intents: [FileAccessIntent] = []
  var isPreparation = false
  /// All options of all reads, for the origin of messages.
  var readingOptions: FileCoordinator.ReadingOptions = []

  var subjects: [String] { items.map { $0.location.path.description } }

  init(_ verb: String) { self.verb = verb }

  mutating func addReading(
    _ url: URL, _ options: FileCoordinator.ReadingOptions, in fileSystem: any FileSystem
  ) throws(FileCoordinationError) {
    let access = try options.itemAccess(url: url.absoluteString)
    if isPreparation { try refuse(options.contains(.resolvesSymbolicLink), ".resolvesSymbolicLink", url) }
    readingOptions.formUnion(options)
    let location = try FileLocation(
      url, followingLastLink: options.contains(.resolvesSymbolicLink), in: fileSystem)
    items.append(Item(access: access, location: location, isUpload: options.contains(.forUploading) && !isPreparation))
  }

  mutating func addWriting(
    _ url: URL, _ options: FileCoordinator.WritingOptions, in fileSystem: any FileSystem
  ) throws(FileCoordinationError) {
    let access = try options.itemAccess(url: url.absoluteString)
    if isPreparation { try refuse(options == .forReplacing, ".forReplacing", url) }
    items.append(Item(access: access, location: try FileLocation(url, in: fileSystem)))
  }

  private func refuse(_ isGiven: Bool, _ option: String, _ url: URL) throws(FileCoordinationError) {
    if isGiven { throw .optionNotAllowed(option, in: "prepare", url: url.absoluteString) }
  }

  static func checkCount(_ count: Int) throws(FileCoordinationError) {
    if count == 0 { throw .noItems }
    if count > FileCoordinator.itemCountMax { throw .tooManyItems(count) }
  }
}

extension FileCoordinator {
  func readingPlan(_ url: URL, _ options: ReadingOptions) throws(FileCoordinationError) -> AccessPlan {
    var plan = AccessPlan("read")
    try plan.addReading(url, options, in: fileSystem)
    return plan
  }

  func writingPlan(_ url: URL, _ options: WritingOptions) throws(FileCoordinationError) -> AccessPlan {
    var plan = AccessPlan(options.verb)
    try plan.addWriting(url, options, in: fileSystem)
    return plan
  }

  func readingAndWritingPlan(
    _ readingURL: URL, _ readingOptions: ReadingOptions, _ writingURL: URL, _ writingOptions: WritingOptions
  ) throws(FileCoordinationError) -> AccessPlan {
    var plan = AccessPlan("read and write")
    try plan.addReading(readingURL, readingOptions, in: fileSystem)
    try plan.addWriting(writingURL, writingOptions, in: fileSystem)
    return plan
  }

  func writingTwoPlan(
    _ first: URL, _ firstOptions: WritingOptions, _ second: URL, _ secondOptions: WritingOptions
  ) throws(FileCoordinationError) -> AccessPlan {
    var plan = AccessPlan(firstOptions.verb)
    try plan.addWriting(first, firstOptions, in: fileSystem)
    try plan.addWriting(second, secondOptions, in: fileSystem)
    return plan
  }

  func plan(for intents: [FileAccessIntent]) throws(FileCoordinationError) -> AccessPlan {
    try AccessPlan.checkCount(intents.count)
    var plan = AccessPlan("access")
    plan.intents = intents
    for intent in intents {
      switch intent.kind {
      case .reading(let options): try plan.addReading(intent.originalURL, options, in: fileSystem)
      case .writing(let options): try plan.addWriting(intent.originalURL, options, in: fileSystem)
      }
    }
    return plan
  }

  func preparationPlan(
    _ reading: [URL], _ readingOptions: ReadingOptions, _ writing: [URL], _ writingOptions: WritingOptions
  ) throws(FileCoordinationError) -> AccessPlan {
    try AccessPlan.checkCount(reading.count + writing.count)
    var plan = AccessPlan("prepare access to")
    plan.isPreparation = true
    for url in reading { try plan.addReading(url, readingOptions, in: fileSystem) }
    for url in writing { try plan.addWriting(url, writingOptions, in: fileSystem) }
    return plan
  }
}

extension FileCoordinator.WritingOptions {
  /// What a write for this reason does, for errors: "couldn't delete …".
  var verb: String {
    if contains(.forDeleting) { return "delete" }
    if contains(.forMoving) { return "move" }
    if contains(.forReplacing) { return "replace" }
    return "write"
  }
}
