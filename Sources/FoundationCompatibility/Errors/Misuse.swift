#if !canImport(ObjectiveC)
  internal import Foundation
  internal import SystemInterface

  /// What Apple's classes would end the process for, or hang at, and these do without.
  enum Misuse {
    typealias Handler = @Sendable (String) -> Void

    private static let handler = Guarded<Handler?>(nil)

    static func setHandler(_ newHandler: Handler?) { handler.withLock { $0 = newHandler } }

    /// Tells the program's author what is wrong, on standard error unless the program wants it elsewhere.
    static func report(_ message: String) {
      if let handler = handler.withLock({ $0 }) { return handler(message) }
      try? FileHandle.standardError.write(contentsOf: Data("FoundationCompatibility: \(message)\n".utf8))
    }
  }
#endif
