public import MetadataPredicates

/// Why a query can't be made or started.
public struct MetadataQueryError: Error, Sendable, CustomStringConvertible {
  /// The kinds of errors.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// The predicate can't be used; ``MetadataQueryError/predicateError`` says why, and where.
    case invalidPredicate
    /// There's no scope.
    case noScope
    /// A scope isn't a file URL, or leads nowhere.
    case invalidScope
    /// Results can't be sorted by an attribute that isn't in the index.
    case unsortableAttribute
    /// The system doesn't let the program watch files at all.
    case watchingUnavailable
  }

  /// What kind of error it is.
  public let code: Code
  /// What it's about: a scope, or an attribute.
  public let subject: String
  /// What is wrong with the predicate.
  public let predicateError: MetadataPredicateError?
  /// What the system said, and what to do.
  private let reason: String

  init(_ code: Code, _ subject: String, _ reason: String, predicateError: MetadataPredicateError? = nil) {
    self.code = code
    self.subject = subject
    self.reason = reason
    self.predicateError = predicateError
  }

  /// The kind, the subject, and what to do about it.
  public var description: String {
    subject.isEmpty ? "\(code.rawValue): \(reason)" : "\(code.rawValue): '\(subject)': \(reason)"
  }
}
