internal import FileAccessArbiter

extension ItemAccess: WireValue {
  private enum Tag: UInt8, WireTag {
    case read = 1
    case readAll = 2
    case write = 3
    case delegated = 4
  }

  package func encode(into writer: inout WireWriter) {
    switch self {
    case .read(let withoutChanges):
      writer.append(tag: Tag.read)
      writer.append(withoutChanges)
    case .readAll(let withoutChanges):
      writer.append(tag: Tag.readAll)
      writer.append(withoutChanges)
    case .write(let intent):
      writer.append(tag: Tag.write)
      writer.append(intent)
    case .delegated(let forWriting):
      writer.append(tag: Tag.delegated)
      writer.append(forWriting)
    }
  }

  package init(from reader: inout WireReader) throws(WireError) {
    switch try reader.tag(of: Tag.self) {
    case .read: self = .read(withoutChanges: try reader.flag())
    case .readAll: self = .readAll(withoutChanges: try reader.flag())
    case .write: self = .write(try reader.read())
    case .delegated: self = .delegated(forWriting: try reader.flag())
    }
  }
}

extension WriteIntent: TagCorrespondent {
  enum Tag: UInt8, WireTag {
    case update = 1
    case merging = 2
    case deleting = 3
    case moving = 4
    case replacing = 5
    case metadataOnly = 6
    case evicting = 7
  }

  var tag: Tag {
    switch self {
    case .update: .update
    case .merging: .merging
    case .deleting: .deleting
    case .moving: .moving
    case .replacing: .replacing
    case .metadataOnly: .metadataOnly
    case .evicting: .evicting
    }
  }
}

extension AccessRequest.Item: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(path, access) }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(reader.read(), reader.read())
  }
}

extension AccessRequest.Limits: WireValue {
  package func encode(into writer: inout WireWriter) {
    AccessRequest.Limits.encode(waiting, into: &writer)
    AccessRequest.Limits.encode(answering, into: &writer)
    AccessRequest.Limits.encode(reporting, into: &writer)
    AccessRequest.Limits.encode(stoppedPresenters, into: &writer)
    AccessRequest.Limits.encode(stoppedHolders, into: &writer)
  }

  private static func encode(_ limit: Nanoseconds?, into writer: inout WireWriter) {
    if let limit, limit < 0 { writer.refuse(.numberOutOfRange, "a limit of \(limit) ns is negative") }
    writer.append(limit)
  }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(
      waiting: AccessRequest.Limits.limit(from: &reader), answering: AccessRequest.Limits.limit(from: &reader),
      reporting: AccessRequest.Limits.limit(from: &reader),
      stoppedPresenters: AccessRequest.Limits.limit(from: &reader),
      stoppedHolders: AccessRequest.Limits.limit(from: &reader))
  }

  private static func limit(from reader: inout WireReader) throws(WireError) -> Nanoseconds? {
    let limit: Nanoseconds? = try reader.read()
    if let limit, limit < 0 {
      throw reader.error(.numberOutOfRange, "a limit of \(limit) ns is negative", back: 8)
    }
    return limit
  }
}

extension AccessRequest: WireValue {
  package func encode(into writer: inout WireWriter) {
    writer.append(client, purpose, ownPresenter, label, Array(items))
    writer.append(UInt64(readingOptions))
    writer.append(isPreparation, context, isAwaitedByContext, blocksThread, isOnMainThread)
    writer.append(limits, proceedsWithoutLateAnswers, presenterAround)
  }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(
      client: reader.read(), purpose: reader.read(), ownPresenter: reader.read(), label: reader.read(),
      items: reader.read())
    readingOptions = try reader.optionBits()
    isPreparation = try reader.flag()
    context = try reader.read()
    isAwaitedByContext = try reader.flag()
    blocksThread = try reader.flag()
    isOnMainThread = try reader.flag()
    limits = try reader.read()
    proceedsWithoutLateAnswers = try reader.flag()
    presenterAround = try reader.read()
  }
}

extension ItemOutcome: TagCorrespondent {
  enum Tag: UInt8, WireTag {
    case unknown = 1
    case untouched = 2
    case changed = 3
    case appeared = 4
    case vanished = 5
    case abandoned = 6
  }

  var tag: Tag {
    switch self {
    case .unknown: .unknown
    case .untouched: .untouched
    case .changed: .changed
    case .appeared: .appeared
    case .vanished: .vanished
    case .abandoned: .abandoned
    }
  }
}
