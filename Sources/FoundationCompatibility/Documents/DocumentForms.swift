#if !canImport(ObjectiveC)
  internal import Foundation
  internal import SwiftRuntimeHooks

  /// The two forms of a document's calls.
  ///
  /// Apple's compiler makes one method of the form with a completion handler and the `async` one: whichever a class overrides, both reach
  /// the override. Here they're two methods:
  ///
  /// ```
  /// the class overrides     async form          form with a handler
  /// nothing                 calls the other     does it
  /// the one with a handler  calls the other     the override, whose `super` does it
  /// the async one           the override, …     calls the other, unless that has called it
  ///                         whose `super` calls the other
  /// both                    the override        the override
  /// ```
  enum DocumentForms {
    /// A call with two forms; the numbers are in the order of the declarations.
    enum Call: Int, CaseIterable, Sendable { case open, close, revert, save, autosave }

    struct Running: Equatable, Sendable {
      let document: ObjectIdentifier
      let call: Call
    }

    /// The call whose `async` form of ``UIDocument`` has called the form with a handler.
    @TaskLocal static var running: Running?

    @MainActor private static let table = MethodTable(
      of: UIDocument.self, silent: SilentDocument.self, overriding: OverridingDocument.self,
      count: 2 * Call.allCases.count)

    /// Whether a class overrides the `async` form of a call, and not the other one.
    @MainActor static func isAsync(_ call: Call, in type: UIDocument.Type) -> Bool {
      guard let table, type != UIDocument.self else { return false }
      return table.isOverridden(2 * call.rawValue + 1, in: type) && !table.isOverridden(2 * call.rawValue, in: type)
    }
  }

  /// Overrides nothing.
  private class SilentDocument: UIDocument {}

  /// Overrides both forms of each call, and nothing else: it's there to find out where they are.
  private class OverridingDocument: UIDocument {
    override func open(completionHandler: ((Bool) -> Void)? = nil) {}
    override func open() async -> Bool { false }
    override func close(completionHandler: ((Bool) -> Void)? = nil) {}
    override func close() async -> Bool { false }
    override func revert(toContentsOf url: URL, completionHandler: ((Bool) -> Void)? = nil) {}
    override func revert(toContentsOf url: URL) async -> Bool { false }
    override func save(to url: URL, for saveOperation: SaveOperation, completionHandler: ((Bool) -> Void)? = nil) {}
    override func save(to url: URL, for saveOperation: SaveOperation) async -> Bool { false }
    override func autosave(completionHandler: ((Bool) -> Void)? = nil) {}
    override func autosave() async -> Bool { false }
  }

  extension UIDocument {
    /// Does a call whose handler form was called.
    nonisolated func begin(
      _ call: DocumentForms.Call, _ completionHandler: ((Bool) -> Void)?,
      async asyncForm: @escaping @MainActor @Sendable (UIDocument) async -> Bool,
      _ body: @escaping @MainActor @Sendable (DocumentRunner, DocumentHandler) -> Void
    ) {
      let handler = DocumentHandler(completionHandler)
      let isBase = DocumentForms.running == DocumentForms.Running(document: ObjectIdentifier(self), call: call)
      MainTurns.enter {
        if !isBase, DocumentForms.isAsync(call, in: type(of: self)) {
          // At once, so that the contents are taken before a save returns.
          Task.immediate { @MainActor in handler(await asyncForm(self)) }
        } else {
          body(self.runner, handler)
        }
      }
    }

    /// Does a call whose `async` form was called, by the other one.
    func end(
      _ call: DocumentForms.Call, _ handlerForm: (UIDocument, @escaping (Bool) -> Void) -> Void
    ) async -> Bool {
      await withCheckedContinuation { end in
        DocumentForms.$running.withValue(DocumentForms.Running(document: ObjectIdentifier(self), call: call)) {
          let handler = AwaitedHandler(of: call, self) { end.resume(returning: $0) }
          handlerForm(self) { handler($0) }
        }
      }
    }
  }
#endif
