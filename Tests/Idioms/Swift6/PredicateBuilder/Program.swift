// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation
import FoundationCompatibility
import Scene

// Predicates of expressions in a file that imports both modules: as types, the names need a line that chooses the
// module.

typealias NSComparisonPredicate = FoundationCompatibility.NSComparisonPredicate
typealias NSCompoundPredicate = FoundationCompatibility.NSCompoundPredicate
typealias NSExpression = FoundationCompatibility.NSExpression

struct PredicateBuilder {
  private var members: [NSPredicate] = []

  mutating func require(
    _ key: String, _ type: NSComparisonPredicate.Operator, _ value: Any,
    options: NSComparisonPredicate.Options = [.caseInsensitive]
  ) {
    let left: NSExpression = NSExpression(forKeyPath: key)
    members.append(
      NSComparisonPredicate(
        leftExpression: left, rightExpression: NSExpression(forConstantValue: value), modifier: .direct, type: type,
        options: options))
  }

  func build() -> NSCompoundPredicate { NSCompoundPredicate(andPredicateWithSubpredicates: members) }
}

@MainActor
final class Finder {
  private let query = NSMetadataQuery()

  func find(_ predicate: NSPredicate, in folder: URL) async -> [String] {
    query.predicate = predicate
    query.searchScopes = [folder]
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      var observer: (any NSObjectProtocol)?
      observer = NotificationCenter.default.addObserver(
        forName: .NSMetadataQueryDidFinishGathering, object: query, queue: .main
      ) { _ in continuation.resume() }
      self.observer = observer
      query.start()
    }
    query.stop()
    if let observer { NotificationCenter.default.removeObserver(observer) }
    return (0..<query.resultCount).compactMap {
      (query.result(at: $0) as? NSMetadataItem)?.value(forAttribute: NSMetadataItemFSNameKey) as? String
    }
  }

  private var observer: (any NSObjectProtocol)?
}

@main
struct Program {
  @MainActor
  static func main() async {
    for name in ["One.txt", "two.txt", "one.pdf"] { _ = Scene.file(name) }
    var builder = PredicateBuilder()
    builder.require(NSMetadataItemFSNameKey, .beginsWith, "one")
    builder.require(NSMetadataItemFSNameKey, .endsWith, ".TXT")
    builder.require(NSMetadataItemFSSizeKey, .greaterThan, 3)
    let predicate = builder.build()
    let names = await Finder().find(predicate, in: Scene.folder)
    Scene.check(names == ["One.txt"], "\(names)")
    let sizes = (predicate.subpredicates.last as? NSComparisonPredicate)?.rightExpression.constantValue as? Int
    Scene.check(sizes == 3, "taken apart")
    Scene.finish()
  }
}
