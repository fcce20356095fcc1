// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation
import FoundationCompatibility
import Scene

// Swift's own values as arguments of predicates, comparators, and queries that are awaited.

extension NSPredicate {
  static func matching(_ format: String, _ arguments: any CVarArg...) -> NSPredicate {
    withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
  }
}

@MainActor
final class Library {
  private let query = NSMetadataQuery()

  func names(_ allowed: [String], newerThan date: Date, except excluded: Set<String>) async -> [String] {
    query.searchScopes = [Scene.folder]
    query.predicate = NSPredicate(
      format: "%K IN %@ AND %K >= %@ AND NOT (%K IN %@)", NSMetadataItemFSNameKey, allowed,
      NSMetadataItemFSContentChangeDateKey, date, NSMetadataItemFSNameKey, excluded)
    query.sortDescriptors = [
      NSSortDescriptor(key: NSMetadataItemFSNameKey, ascending: true) { left, right in
        (left as! String).compare(right as! String, options: [.caseInsensitive, .numeric])
      }
    ]
    query.operationQueue = .main
    let gathered = NotificationCenter.default.notifications(named: .NSMetadataQueryDidFinishGathering, object: query)
    query.start()
    for await _ in gathered { break }
    query.stop()
    return query.results.map { ($0 as! NSMetadataItem).value(forAttribute: NSMetadataItemFSNameKey) as! String }
  }
}

@main
struct Program {
  @MainActor
  static func main() async {
    for name in ["b10.txt", "B9.txt", "c.txt", "d.txt"] { _ = Scene.file(name) }
    let names = await Library().names(
      ["b10.txt", "B9.txt", "d.txt"], newerThan: Date(timeIntervalSinceNow: -3_600), except: ["d.txt"])
    Scene.check(names == ["B9.txt", "b10.txt"], "\(names)")
    let home = URL(fileURLWithPath: "/home/me")
    let places = [["url": home, "id": 1], ["url": URL(fileURLWithPath: "/"), "id": 2]] as NSArray
    let found = places.filtered(using: NSPredicate(format: "url == %@ AND id IN %@", home, [1, 2]))
    Scene.check(found.count == 1, "values")
    Scene.check(NSPredicate.matching("%K > %d", "n", 3).evaluate(with: ["n": 4]), "lists")
    Scene.finish()
  }
}
