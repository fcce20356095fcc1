package import KeyValueReplicas
package import SystemInterface

/// The failure of a call: its kind, its reason and what to do.
///
/// The store is unchanged then.
///
/// ```
/// keyTooLong: the key 'aaaa…' has 129 UTF-16 code units; 128 are allowed
/// ```
public struct KeyValueStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public var code: Code
  /// The event and the remedy, without the code.
  public var message: String

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - message: The event and the remedy.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }

  /// The kind of a failure; more kinds may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// A number that stays the same.
    public let number: Int
    /// The name of the kind.
    public let description: String

    private init(_ number: Int, _ description: String) {
      self.number = number
      self.description = description
    }

    /// The name of a store or an account is empty, too long, or has a slash or a control character.
    public static let invalidName = Code(1, "invalidName")
    /// A key is empty.
    public static let emptyKey = Code(2, "emptyKey")
    /// A key has too many characters.
    public static let keyTooLong = Code(3, "keyTooLong")
    /// A transaction writes a key twice.
    public static let duplicateKey = Code(4, "duplicateKey")
    /// Arrays and dictionaries are nested too deep.
    public static let nestedTooDeep = Code(5, "nestedTooDeep")
    /// The store has as many keys as it may have.
    public static let tooManyKeys = Code(6, "tooManyKeys")
    /// All values together would be too large.
    public static let tooManyBytes = Code(7, "tooManyBytes")
    /// A transaction writes too many keys.
    public static let tooManyKeysAtOnce = Code(8, "tooManyKeysAtOnce")
    /// A value can't be made of property-list values, or not be read from them as what was asked for.
    public static let typeMismatch = Code(9, "typeMismatch")
    /// A transaction was always too late: others write the keys that it reads all the time.
    public static let contended = Code(10, "contended")
    /// Another process has locked the store for a long time.
    public static let busy = Code(11, "busy")
    /// The bytes on the disk aren't those that were written.
    public static let damaged = Code(12, "damaged")
    /// A newer version of this package has written the store.
    public static let newerFormat = Code(13, "newerFormat")
    /// There's something else in the place of the store.
    public static let notAStore = Code(14, "notAStore")
    /// The permissions don't allow it, or the store belongs to another user.
    public static let permissionDenied = Code(15, "permissionDenied")
    /// The disk has no room.
    public static let noSpace = Code(16, "noSpace")
    /// A system call failed.
    public static let system = Code(17, "system")
    /// Nobody is to be shared with, so nothing can be uploaded.
    public static let notShared = Code(18, "notShared")
    /// The task was cancelled.
    public static let cancelled = Code(19, "cancelled")
    /// The shared folder or the server doesn't answer.
    public static let unreachable = Code(20, "unreachable")
    /// The store was closed.
    public static let closed = Code(21, "closed")
    /// The configuration file can't be read, or neither `XDG_DATA_HOME` nor `HOME` says where stores are.
    public static let invalidConfiguration = Code(22, "invalidConfiguration")
    /// A value can't be sealed or opened: see ``StoreSealing``.
    public static let notSealed = Code(23, "notSealed")
  }
}

extension KeyValueStoreError {
  init(_ refusal: WriteRefusal) {
    switch refusal {
    case .emptyKey: self.init(.emptyKey, "a key must have at least one character")
    case .keyTooLong(let key, let length, let max, let unit):
      self.init(.keyTooLong, "the key '\(key.prefix(40))…' has \(length) \(unit); \(max) are allowed, see StoreLimits")
    case .keyRepeated(let key): self.init(.duplicateKey, "the transaction writes the key '\(key)' twice")
    case .nestedTooDeep(let key, let max):
      self.init(.nestedTooDeep, "the value of '\(key)' has more than \(max) levels of arrays and dictionaries")
    case .tooManyKeys(let max): self.init(.tooManyKeys, "the store has \(max) keys already; remove some first")
    case .tooManyBytes(let max):
      self.init(
        .tooManyBytes, "all values together may have \(max) bytes; remove some first, or keep this one in a file")
    case .tooManyKeysAtOnce(let max): self.init(.tooManyKeysAtOnce, "a transaction may write \(max) keys")
    }
  }

  init(_ failure: ReplicaJournal.Failure, _ path: SystemPath) {
    switch failure {
    case .notAJournal:
      self.init(.notAStore, "'\(path)' isn't the journal of a store. Move it away; a new one is made then.")
    case .newerFormat:
      self.init(.newerFormat, "a newer version of this package has written '\(path)'. Update this program.")
    case .damaged(let offset):
      self.init(
        .damaged,
        "the journal '\(path)' is damaged at byte \(offset). Nothing was changed. Move it away to begin anew; what was uploaded comes back."
      )
    }
  }

  package init(_ error: SystemError) {
    let code: Code =
      switch error.number {
      case _ where error == .unknownDataHome: .invalidConfiguration
      case .noSpace, .quotaExceeded, .fileTooLarge: .noSpace
      case .permissionDenied, .notPermitted, .readOnlyFileSystem: .permissionDenied
      case .notADirectory, .isADirectory, .tooManySymbolicLinkLevels: .notAStore
      default: .system
      }
    self.init(code, error.description)
  }

  package init(_ failure: SharedStorageFailure) {
    let code: Code =
      switch failure.kind {
      case .gap, .unreachable: .unreachable
      case .denied: .permissionDenied
      case .damaged: .damaged
      case .newerFormat: .newerFormat
      case .full: .noSpace
      }
    self.init(code, failure.explanation)
  }
}
