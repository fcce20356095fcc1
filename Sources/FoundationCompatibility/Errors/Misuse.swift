#if !canImport(ObjectiveC)
  internal import Foundation
  internal import SystemInterface

  /// Misuse for which Apple's classes would end the process, or hang, and these don't.
  enum Misuse {
    typealias Handler = @Sendable (String) -> Void

    private static let handler = Guarded<Handler?>(nil)

    static func setHandler(_ newHandler: Handler?) { handler.withLock { $0 = newHandler } }

    /// Reports the problem to the program's author, on standard error unless the program has set a handler.
    static func report(_ message: String) {
      if let handler = handler.withLock({ $0 }) { return handler(message) }
      try? FileHandle.standardError.write(contentsOf: Data("FoundationCompatibility: \(message)\n".utf8))
    }
  }
#endif
