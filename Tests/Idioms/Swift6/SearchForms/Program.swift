// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation
import FoundationCompatibility
import Scene

// Searches by type, rules for passwords and names, flags in numbers, and the queries of saved searches.

@MainActor
func results(_ predicate: NSPredicate, in folder: URL) async -> [NSMetadataItem] {
  let query = NSMetadataQuery()
  query.searchScopes = [folder]
  query.predicate = predicate
  query.sortDescriptors = [NSSortDescriptor(key: NSMetadataItemFSNameKey, ascending: true)]
  query.operationQueue = .main
  let gathered = NotificationCenter.default.notifications(named: .NSMetadataQueryDidFinishGathering, object: query)
  query.start()
  for await _ in gathered { break }
  query.stop()
  return query.results.map { $0 as! NSMetadataItem }
}

@MainActor
func names(_ predicate: NSPredicate) async -> [String] {
  await results(predicate, in: Scene.folder).map { $0.value(forAttribute: NSMetadataItemFSNameKey) as! String }
}

@main
struct Program {
  @MainActor
  static func main() async {
    for name in ["a.png", "b.txt", "old map.txt", "tt.md"] { _ = Scene.file(name) }
    // Attributes with several values.
    let images = await names(NSPredicate(format: "%K == 'public.image'", NSMetadataItemContentTypeTreeKey))
    Scene.check(images == ["a.png"], "\(images)")
    let others = await names(NSPredicate(format: "NOT (kMDItemContentTypeTree IN %@)", ["public.image", "x"]))
    Scene.check(others == ["b.txt", "old map.txt", "tt.md"], "\(others)")
    // Programs have no extension; the folder is searched through a link.
    let tool = Scene.file("tool")
    try! FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool.path)
    let link = Scene.folder.appendingPathComponent("link")
    try! FileManager.default.createSymbolicLink(at: link, withDestinationURL: Scene.folder)
    let programs = await results(NSPredicate(format: "kMDItemContentType == 'public.unix-executable'"), in: link)
    let paths = programs.map { $0.value(forAttribute: NSMetadataItemPathKey) as! String }
    Scene.check(paths == [link.path + "/tool"], "\(paths)")
    try! FileManager.default.removeItem(at: link)
    try! FileManager.default.removeItem(at: tool)
    // Regular expressions.
    let password = NSPredicate(format: "SELF MATCHES %@", #"^(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{8,}$"#)
    Scene.check(password.evaluate(with: "Correct1") && !password.evaluate(with: "correct1"), "password")
    let twins = await names(NSPredicate(format: "kMDItemFSName MATCHES %@", #"(.)\1\..*"#))
    Scene.check(twins == ["tt.md"], "\(twins)")
    // Bits.
    let writable = NSPredicate(format: "(mode & %d) != 0 AND (flags | 1) == 5 AND ~flags == -5", 0o200)
    Scene.check(writable.evaluate(with: ["mode": 0o644, "flags": 4]), "bits")
    // Saved searches.
    let saved = NSPredicate(
      fromMetadataQueryString: #"(** == "map old"cdw) && (true) && kMDItemFSSize > "1" "#
        + #"&& kMDItemFSContentChangeDate >= "$time.today(-1)""#)!
    let found = await names(saved)
    Scene.check(found == ["old map.txt"], "\(found)")
    Scene.finish()
  }
}
