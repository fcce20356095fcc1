internal import FileAccessArbiter

/// The cause of a message: a party, and its kind of access.
public struct AccessOrigin: Hashable, Sendable, CustomStringConvertible {
  /// The use of the item by the causing access.
  public enum Kind: Hashable, Sendable {
    /// It reads, with these options; a request of several items states those of all its reads.
    case reading(FileCoordinator.ReadingOptions)
    /// It writes, for the named reason.
    case writing(FileCoordinator.WritingOptions)
    /// It removes the contents from this machine; the item is kept elsewhere.
    case evicting
    /// It asks in advance, on behalf of accesses that follow.
    case preparing
    /// Something was announced outside of an access.
    case announcing
    /// Perhaps nothing has changed: one service took the place of another, and the changes in between are unknown.
    case missed
    /// It doesn't coordinate: the change was seen in the file system, and its author is unknown.
    case uncoordinated
  }

  /// The process identifier of the causing program; 0 if it's unknown.
  public let processIdentifier: Int32
  /// The name of the causing program.
  public let processName: String
  /// The purpose identifier of the causing coordinator.
  public var purposeIdentifier: String { purpose.text }
  private let purpose: PurposeName
  /// The label of the causing coordinator.
  public let label: String
  /// The use of the item by the causing access.
  public let kind: Kind
  /// Whether the change was made by a program that coordinates; see ``FilePresenter/observesUncoordinatedChanges``.
  public var isCoordinated: Bool { kind != .uncoordinated }
  /// Whether the presenter is asked while another of its callbacks waits inside an access.
  public let isReentrant: Bool
  /// Whether the item is known to have changed: `false` when size, modification time and identity are as before, `nil`
  /// when they weren't compared (C-310).
  public let isVerified: Bool?
  /// Whether the causing access went on without this presenter's answer, because its queue didn't begin a question in time.
  ///
  /// Only of presenters under Apple's names, and only until their class is known to implement the callback or not.
  public let wasPassedOver: Bool
  /// How many earlier messages were left out because this presenter had thousands waiting.
  ///
  /// Examine everything again.
  public let omittedMessageCount: Int

  /// The party and its access, such as `writing by 'mailer' (pid 4711 'mail')`.
  public var description: String {
    switch kind {
    case .uncoordinated, .missed: kind.description
    default:
      "\(kind.description) by '\(label)' (pid \(processIdentifier) '\(processName)')"
        + (wasPassedOver ? ", which didn't wait for this presenter" : "")
    }
  }
}

extension AccessOrigin.Kind: CustomStringConvertible {
  /// One or two words, such as `reading` or `writing [.forDeleting]`.
  public var description: String {
    switch self {
    case .reading(let options): options.isEmpty ? "reading" : "reading \(options)"
    case .writing(let options): options == .forUpdating ? "writing" : "writing [\(options)]"
    case .evicting: "evicting"
    case .preparing: "preparing"
    case .announcing: "announcing"
    case .missed: "changes may have been missed"
    case .uncoordinated: "uncoordinated"
    }
  }
}

extension AccessOrigin {
  fileprivate init(
    _ origin: Message.Origin, purpose: PurposeName, process: OwnProcess, kind: Kind, isReentrant: Bool
  ) {
    processIdentifier = process.processIdentifier
    processName = process.processName
    self.purpose = purpose
    label = origin.label
    self.kind = kind
    self.isReentrant = isReentrant
    // The messages that were left out may have reported a change.
    isVerified = origin.folded > 0 && origin.verified == false ? nil : origin.verified
    wasPassedOver = origin.wasPassedOver
    omittedMessageCount = origin.folded
  }
}

/// A purpose identifier, written out only when somebody reads it.
enum PurposeName: Hashable, Sendable {
  /// Somebody chose it, or it comes from another process.
  case given(String)
  /// That of a coordinator of this process without a chosen one.
  case numbered(UInt64)

  var text: String {
    switch self {
    case .given(let text): text
    case .numbered(let number): "file-coordination.\(OwnProcess.current.processIdentifier).\(number)"
    }
  }
}

extension Message.Origin {
  func publicOrigin(purpose: PurposeName, process: OwnProcess, isReentrant: Bool) -> AccessOrigin {
    AccessOrigin(
      self, purpose: isUncoordinated ? .given("") : purpose,
      process: isUncoordinated ? OwnProcess(processIdentifier: 0, processName: "") : process,
      kind: kind(isKnown: process.processIdentifier != 0), isReentrant: isReentrant)
  }

  private func kind(isKnown: Bool) -> AccessOrigin.Kind {
    let options = FileCoordinator.ReadingOptions(rawValue: readingOptions)
    if isUncoordinated { return .uncoordinated }
    if isPreparation { return .preparing }
    switch itemAccess {
    case nil where access == nil: return isKnown ? .announcing : .missed
    case nil: return .reading(options)
    case .read, .readAll, .delegated: return .reading(options)
    case .write(.evicting): return .evicting
    case .write(let intent): return .writing(intent.options)
    }
  }
}

extension WriteIntent {
  fileprivate var options: FileCoordinator.WritingOptions {
    switch self {
    case .update, .evicting: .forUpdating
    case .merging: .forMerging
    case .deleting: .forDeleting
    case .moving: .forMoving
    case .replacing: .forReplacing
    case .metadataOnly: .contentIndependentMetadataOnly
    }
  }
}
