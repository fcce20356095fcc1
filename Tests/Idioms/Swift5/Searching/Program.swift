// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation
import Scene

// Predicates and sort descriptors as programs write them, and checks whether the user is signed in.

func runSearching() {
  let key = "kMDItemFSName"
  let items: [[String: Any]] = [[key: "b.txt", "size": 2], [key: "a.TXT", "size": 1], [key: "c.pdf"]]
  let predicates = [
    NSPredicate(format: "%K LIKE[c] %@", key, "*.txt"), NSPredicate(format: "%K ENDSWITH[cd] '.txt'", key),
    NSPredicate(format: "size > %d || size == %@", 0, NSNumber(value: 2)),
    NSPredicate(format: "(%K like '*.txt') OR (%K like '*.TXT')", argumentArray: [key, key]),
  ]
  for predicate in predicates {
    let found = (items as NSArray).filtered(using: predicate)
    Scene.check(found.count == 2, "\(predicate)")
  }
  let all = NSCompoundPredicate(type: .and, subpredicates: predicates)
  let found = NSArray(array: items).filtered(using: all) as NSArray
  let sorted = found.sortedArray(using: [NSSortDescriptor(key: key, ascending: true)])
  Scene.check(sorted.compactMap { ($0 as? [String: Any])?[key] as? String } == ["a.TXT", "b.txt"], "sorted")

  if FileManager.default.ubiquityIdentityToken != nil { Scene.check(false, "signed in") }
  let container = FileManager.default.url(forUbiquityContainerIdentifier: nil)?.appendingPathComponent("Documents")
  Scene.check(container == nil, "no container")
  let url = Scene.file("scoped")
  let values = try? url.resourceValues(forKeys: [.ubiquitousItemDownloadingStatusKey])
  Scene.check(values?.ubiquitousItemDownloadingStatus != .current, "not in iCloud")
  let isAccessed = url.startAccessingSecurityScopedResource()
  defer { if isAccessed { url.stopAccessingSecurityScopedResource() } }
  autoreleasepool { Scene.check((try? Data(contentsOf: url)) != nil, "readable") }
}

// Throws a file away, as file browsers do; into a trash of its own.
func runTrash() {
  setenv("XDG_DATA_HOME", Scene.folder.appendingPathComponent("data").path, 1)
  let url = Scene.file("rubbish", "rubbish")
  var trashed: NSURL?
  try! FileManager.default.trashItem(at: url, resultingItemURL: &trashed)
  Scene.check(!FileManager.default.fileExists(atPath: url.path), "thrown away")
  let place = (trashed as URL?)!
  Scene.check(try! String(contentsOf: place, encoding: .utf8) == "rubbish", "in the trash")
  Scene.check(place.path.hasPrefix(Scene.folder.path), "in its own trash")
}

@main
struct Program {
  static func main() {
    runSearching()
    runTrash()
    Scene.finish()
  }
}
