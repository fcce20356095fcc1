// swift-format-ignore-file: NeverForceUnwrap
// As people write it.

import Foundation
import FoundationCompatibility
import Scene

// Wrappers that turn error pointers into errors, and closures into results: generic, with rethrown and typed errors.

extension NSFileCoordinator {
  func read<T>(_ url: URL, options: ReadingOptions = [], _ body: (URL) throws -> T) throws -> T {
    var error: NSError?
    var result: Result<T, any Error>?
    coordinate(readingItemAt: url, options: options, error: &error) { url in result = Result { try body(url) } }
    if let error { throw error }
    guard let result else { throw CocoaError(.fileReadUnknown) }
    return try result.get()
  }

  @discardableResult
  func write<T>(_ url: URL, options: WritingOptions = [], _ body: (URL) throws -> T) throws -> T {
    try withoutActuallyEscaping(body) { body in
      var error: NSError?
      var result: T?
      var thrown: (any Error)?
      coordinate(writingItemAt: url, options: options, error: &error) { url in
        do { result = try body(url) } catch { thrown = error }
      }
      if let error = error ?? thrown { throw error }
      return result!
    }
  }

  func move(_ source: URL, to destination: URL) throws {
    var error: NSError?
    var outcome = Result<Void, any Error>.success(())
    coordinate(
      writingItemAt: source, options: .forMoving, writingItemAt: destination, options: .forReplacing, error: &error
    ) { source, destination in
      outcome = Result {
        item(at: source, willMoveTo: destination)
        try FileManager.default.moveItem(at: source, to: destination)
        item(at: source, didMoveTo: destination)
      }
    }
    if let error { throw error }
    try outcome.get()
  }
}

struct Refusal: Error, Equatable { var reason: String }

/// With the type of the error in its own type.
struct Settings<Failure: Error> {
  var url: URL
  var makeFailure: (any Error) -> Failure

  func load() throws(Failure) -> [String: Int] {
    do {
      return try NSFileCoordinator().read(url) {
        try JSONDecoder().decode([String: Int].self, from: Data(contentsOf: $0))
      }
    } catch { throw makeFailure(error) }
  }
}

@main
struct Program {
  static func main() throws {
    let url = Scene.file("wrapped", "1234")
    let coordinator = NSFileCoordinator()
    Scene.check(try coordinator.read(url) { try Data(contentsOf: $0).count } == 4, "the result comes back")
    Scene.check(try coordinator.read(url, options: .withoutChanges) { $0 } == url, "so does the URL")
    try coordinator.write(url, options: .forReplacing) { try Data("56".utf8).write(to: $0) }
    let optional: String? = try coordinator.read(url) { _ in nil }
    Scene.check(optional == nil, "a result that is nil")
    do {
      try coordinator.write(url) { _ in throw Refusal(reason: "no") }
      Scene.check(false, "not thrown")
    } catch let error as Refusal {
      Scene.check(error.reason == "no", "the error of the accessor")
    }
    do {
      _ = try coordinator.read(URL(string: "https://example.org/")!) { _ in 1 }
      Scene.check(false, "accessed what is no file")
    } catch let error as NSError {
      Scene.check(!error.localizedDescription.isEmpty, "an explanation")
    }
    let destination = Scene.folder.appendingPathComponent("moved")
    try coordinator.move(url, to: destination)
    Scene.check(try String(contentsOf: destination, encoding: .utf8) == "56", "moved")

    do {
      _ = try Settings(url: destination) { Refusal(reason: "\(type(of: $0))") }.load()
      Scene.check(false, "read what is no dictionary")
    } catch { Scene.check(!error.reason.isEmpty, "typed") }
    Scene.finish()
  }
}
