// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation
import Scene

// A browser of the values and groups of the results, with a delegate of the query, as in desktop programs.

class Row: NSObject {
  let item: NSMetadataItem
  var title: String { item.value(forAttribute: NSMetadataItemDisplayNameKey) as! String }

  init(_ item: NSMetadataItem) { self.item = item }
}

class ValueBrowser: NSObject, NSMetadataQueryDelegate {
  let query = NSMetadataQuery()
  let ready = DispatchSemaphore(value: 0)
  var observer: NSObjectProtocol?

  init(_ folder: URL) {
    super.init()
    query.delegate = self
    query.searchScopes = [folder]
    query.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
      NSPredicate(format: "%K != 'public.folder'", NSMetadataItemContentTypeKey),
      NSPredicate { item, _ in
        !((item as! NSMetadataItem).value(forAttribute: NSMetadataItemFSNameKey) as! String).hasPrefix(".")
      },
    ])
    query.valueListAttributes = [NSMetadataItemContentTypeKey, NSMetadataItemFSSizeKey]
    query.groupingAttributes = [NSMetadataItemContentTypeKey]
    query.operationQueue = OperationQueue()
    observer = NotificationCenter.default.addObserver(
      forName: .NSMetadataQueryDidFinishGathering, object: query, queue: nil
    ) {
      [ready] _ in ready.signal()
    }
  }

  func metadataQuery(_ query: NSMetadataQuery, replacementObjectForResultObject result: NSMetadataItem) -> Any {
    Row(result)
  }

  func metadataQuery(_ query: NSMetadataQuery, replacementValueForAttribute attrName: String, value attrValue: Any)
    -> Any
  {
    guard attrName == NSMetadataItemFSSizeKey else { return attrValue }
    return (attrValue as! NSNumber).intValue > 10 ? "large" : "small"
  }
}

func runValueBrowser() {
  let folder = Scene.folder.appendingPathComponent("values")
  try! FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  for (name, count) in [("a.txt", 3), ("b.txt", 30), ("c.png", 4), (".hidden", 5)] {
    try! Data(count: count).write(to: folder.appendingPathComponent(name))
  }
  let browser = ValueBrowser(folder)
  browser.query.start()
  Scene.wait(browser.ready, "the end of the search")
  let query = browser.query
  query.stop()
  let sizes = query.valueLists[NSMetadataItemFSSizeKey]!.map { "\($0.value as! String) \($0.count)" }.sorted()
  Scene.check(sizes == ["large 1", "small 2"], "sizes \(sizes)")
  let groups = query.groupedResults.map { ($0.value as! String, $0.results.map { ($0 as! Row).title }.sorted()) }
  Scene.check(groups.first { $0.0 == "public.png" }!.1 == ["c.png"], "pictures")
  Scene.check(groups.first { $0.0 == "public.plain-text" }!.1 == ["a.txt", "b.txt"], "texts")
  var titles: [String] = []
  query.enumerateResults { result, index, stop in
    titles.append((result as! Row).title)
    Scene.check(query.index(ofResult: result) == index, "position")
    stop.pointee = ObjCBool(titles.count == 3)
  }
  Scene.check(titles.sorted() == ["a.txt", "b.txt", "c.png"], "titles")
  let item = NSMetadataItem(url: folder.appendingPathComponent("a.txt"))
  Scene.check(
    item?.values(forAttributes: [NSMetadataItemFSSizeKey])?[NSMetadataItemFSSizeKey] as? Int == 3, "an item of a URL")
}

@main
struct Program {
  static func main() {
    runValueBrowser()
    Scene.finish()
  }
}
