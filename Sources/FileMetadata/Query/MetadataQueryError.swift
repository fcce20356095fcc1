public import MetadataPredicates
public import SystemInterface

/// Why a query can't be made or started.
public struct MetadataQueryError: Error, Sendable, CustomStringConvertible {
  /// The kinds of errors.
  ///
  /// A later version may have more of them: a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The number, which stays the same in all versions and is never given to another code.
    public let number: Int
    /// The name in Swift, such as `invalidPredicate`.
    public let name: String

    private init(_ number: Int, _ name: String) {
      self.number = number
      self.name = name
    }

    /// The predicate can't be used; ``MetadataQueryError/predicateError`` says why, and where.
    ///
    /// Mend the predicate at that place.
    public static let invalidPredicate = Code(1, "invalidPredicate")
    /// There's no scope.
    ///
    /// Name at least one directory to search; `.localComputer` searches everything.
    public static let noScope = Code(2, "noScope")
    /// A scope isn't a file URL, or leads nowhere.
    ///
    /// Name directories by absolute file URLs, and ubiquitous scopes only beside each other.
    /// ``MetadataQueryError/systemError`` has the number when a system call failed.
    public static let invalidScope = Code(3, "invalidScope")
    /// Results can't be sorted by an attribute that isn't in the index.
    ///
    /// Sort by one that the file system gives.
    public static let unsortableAttribute = Code(4, "unsortableAttribute")
    /// The system doesn't let the program watch files at all.
    ///
    /// ``MetadataQueryError/systemError`` names the system call: raise its limit, or end programs that use it up.
    public static let watchingUnavailable = Code(5, "watchingUnavailable")

    /// All codes of this version, by number; a later version may have more.
    public static let allCases: [Code] = [
      .invalidPredicate, .noScope, .invalidScope, .unsortableAttribute, .watchingUnavailable,
    ]

    /// The name.
    public var description: String { name }
  }

  /// The kind of error.
  public let code: Code
  /// The subject: a scope, or an attribute.
  public let subject: String
  /// The error in the predicate.
  public let predicateError: MetadataPredicateError?
  /// The system call whose failure is the reason, with its `errno`, paths and advice.
  ///
  /// `nil` if no system call failed. There's always one when the code is ``Code/watchingUnavailable``, and when the code is
  /// ``Code/invalidScope`` and the path couldn't be resolved.
  public let systemError: SystemError?
  /// The answer of the system, and the remedy.
  private let reason: String

  init(_ code: Code, _ subject: String, _ reason: String, predicateError: MetadataPredicateError? = nil) {
    self.init(code, subject, reason, predicateError: predicateError, systemError: nil)
  }

  init(_ code: Code, _ subject: String, _ systemError: SystemError) {
    self.init(code, subject, systemError.description, predicateError: nil, systemError: systemError)
  }

  private init(
    _ code: Code, _ subject: String, _ reason: String, predicateError: MetadataPredicateError?,
    systemError: SystemError?
  ) {
    self.code = code
    self.subject = subject
    self.reason = reason
    self.predicateError = predicateError
    self.systemError = systemError
  }

  /// The kind, the subject, and the remedy.
  public var description: String {
    subject.isEmpty ? "\(code): \(reason)" : "\(code): '\(subject)': \(reason)"
  }
}
