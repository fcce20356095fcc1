internal import FileAccessArbiter

extension Message.Kind: WireValue {
  private enum Tag: UInt8, WireTag {
    case relinquishToReader = 1
    case relinquishToWriter = 2
    case saveChanges = 3
    case accommodateDeletion = 4
    case accommodateEviction = 5
    case accommodateSubitemDeletion = 6
    case reacquire = 7
    case itemDidChange = 8
    case itemDidMove = 9
    case itemDidChangeUbiquityAttributes = 10
    case itemVersion = 11
    case subitemDidAppear = 12
    case subitemDidChange = 13
    case subitemDidMove = 14
    case subitemVersion = 15
  }

  private var tag: Tag {
    switch self {
    case .relinquishToReader: .relinquishToReader
    case .relinquishToWriter: .relinquishToWriter
    case .saveChanges: .saveChanges
    case .accommodateDeletion: .accommodateDeletion
    case .accommodateEviction: .accommodateEviction
    case .accommodateSubitemDeletion: .accommodateSubitemDeletion
    case .reacquire: .reacquire
    case .itemDidChange: .itemDidChange
    case .itemDidMove: .itemDidMove
    case .itemDidChangeUbiquityAttributes: .itemDidChangeUbiquityAttributes
    case .itemVersion: .itemVersion
    case .subitemDidAppear: .subitemDidAppear
    case .subitemDidChange: .subitemDidChange
    case .subitemDidMove: .subitemDidMove
    case .subitemVersion: .subitemVersion
    }
  }

  package func encode(into writer: inout WireWriter) {
    writer.append(tag: tag)
    switch self {
    case .relinquishToReader, .relinquishToWriter, .saveChanges, .accommodateDeletion, .accommodateEviction,
      .itemDidChange:
      break
    case .accommodateSubitemDeletion(let path): writer.append(path)
    case .reacquire(let message): writer.append(message)
    case .itemDidMove(let path): writer.append(path)
    case .itemDidChangeUbiquityAttributes(let attributes): writer.append(attributes)
    case .itemVersion(let change, let version): writer.append(change, version)
    case .subitemDidAppear(let path): writer.append(path)
    case .subitemDidChange(let path): writer.append(path)
    case .subitemDidMove(let old, let new): writer.append(old, new)
    case .subitemVersion(let path, let change, let version): writer.append(path, change, version)
    }
  }

  package init(from reader: inout WireReader) throws(WireError) {
    switch try reader.tag(of: Tag.self) {
    case .relinquishToReader: self = .relinquishToReader
    case .relinquishToWriter: self = .relinquishToWriter
    case .saveChanges: self = .saveChanges
    case .accommodateDeletion: self = .accommodateDeletion
    case .accommodateEviction: self = .accommodateEviction
    case .accommodateSubitemDeletion: self = .accommodateSubitemDeletion(try reader.read())
    case .reacquire: self = .reacquire(try reader.read())
    case .itemDidChange: self = .itemDidChange
    case .itemDidMove: self = .itemDidMove(to: try reader.read())
    case .itemDidChangeUbiquityAttributes: self = .itemDidChangeUbiquityAttributes(try reader.read())
    case .itemVersion: self = try .itemVersion(reader.read(), reader.read())
    case .subitemDidAppear: self = .subitemDidAppear(try reader.read())
    case .subitemDidChange: self = .subitemDidChange(try reader.read())
    case .subitemDidMove: self = try .subitemDidMove(from: reader.read(), to: reader.read())
    case .subitemVersion: self = try .subitemVersion(reader.read(), reader.read(), reader.read())
    }
  }
}

extension Message.VersionChange: TagCorrespondent {
  enum Tag: UInt8, WireTag {
    case gained = 1
    case lost = 2
    case resolved = 3
  }

  var tag: Tag {
    switch self {
    case .gained: .gained
    case .lost: .lost
    case .resolved: .resolved
    }
  }
}

/// The access and its purpose are another process's.
extension Message.Origin: WireValue {
  package func encode(into writer: inout WireWriter) {
    writer.append(access?.rawValue, client, purpose.rawValue, label, itemAccess)
    writer.append(UInt64(readingOptions))
    writer.append(isPreparation, verified)
    writer.append(count: folded)
    writer.append(isUncoordinated, wasPassedOver)
  }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(
      access: reader.read(UInt64?.self).map(AccessID.init), client: reader.read(), purpose: PurposeID(reader.read()),
      label: reader.read(), itemAccess: reader.read(), readingOptions: reader.optionBits(),
      isPreparation: reader.flag(), verified: reader.read(), folded: reader.count())
    isUncoordinated = try reader.flag()
    wasPassedOver = try reader.flag()
  }
}

extension Delivery: WireValue {
  package func encode(into writer: inout WireWriter) {
    writer.append(message, presenter, kind, origin, above, announcedSave, isAhead)
  }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(
      message: reader.read(), presenter: reader.read(), kind: reader.read(), origin: reader.read(),
      above: reader.read(), announcing: reader.read(), ahead: reader.flag())
  }
}
