import Foundation
import FoundationCompatibility
import SystemInterface
import TestSupport
import Testing

@Suite("Apple's metadata items, predicates and constants", .serialized, .blocking, .timeLimit(.minutes(4)))
struct AppleMetadataItemTests {
  @Test("R34 to R36: an item of a URL has the values of a file, and none of what there isn't")
  func items() throws {
    try withSandbox { box in
      let url = try box.write("photo.png", "12345")
      let item = try #require(NSMetadataItem(url: url))
      #expect(item.value(forAttribute: NSMetadataItemFSNameKey) as? String == "photo.png")
      #expect(item.value(forAttribute: NSMetadataItemPathKey) as? String == url.path)
      #expect(item.value(forAttribute: NSMetadataItemURLKey) as? URL == url)
      #expect(item.value(forAttribute: NSMetadataItemFSSizeKey) as? NSNumber == 5)
      #expect(item.value(forAttribute: NSMetadataItemFSSizeKey) as? Int64 == 5)
      #expect(item.value(forAttribute: NSMetadataItemContentTypeKey) as? String == "public.png")
      let types = item.value(forAttribute: NSMetadataItemContentTypeTreeKey) as? [String]
      #expect(types?.contains("public.image") == true)
      #expect(item.value(forAttribute: NSMetadataItemIsUbiquitousKey) as? Bool == false)
      let change = try FileManager.default.attributesOfItem(atPath: url.path)[.modificationDate] as? Date
      let date = try #require(item.value(forAttribute: NSMetadataItemFSContentChangeDateKey) as? Date)
      #expect(abs(date.timeIntervalSince(try #require(change))) < 0.001)
      #expect(item.value(forAttribute: NSMetadataItemTitleKey) == nil)
      let values = try #require(item.values(forAttributes: [NSMetadataItemFSNameKey, NSMetadataItemTitleKey]))
      #expect(Array(values.keys) == [NSMetadataItemFSNameKey])
      #expect(item.attributes.contains(NSMetadataItemFSSizeKey) && !item.attributes.contains(NSMetadataItemTitleKey))
      #expect(item.attributes.allSatisfy { item.value(forAttribute: $0) != nil })
      #expect(NSMetadataItem(url: box.url("none")) == nil)
      #expect(NSMetadataItem(url: try #require(URL(string: "https://example.org/"))) == nil)
      #expect(NSMetadataItem().value(forAttribute: NSMetadataItemPathKey) == nil)
    }
  }

  @Test("R34, R36: an item is printed with its path, and a predicate may compare any of its values")
  func wholeItems() throws {
    try withSandbox { box in
      let url = try box.write("photo.png", "12345")
      let item = try #require(NSMetadataItem(url: url))
      #expect(item.description == "<NSMetadataItem: \(url.path)>")
      #expect(NSMetadataItem().description == "<NSMetadataItem: nothing>" && NSMetadataItem().attributes.isEmpty)
      #expect(NSPredicate(format: "ANYKEY == 'photo.png'").evaluate(with: item))
      #expect(!NSPredicate(format: "ANYKEY == 'other.png'").evaluate(with: item))
      #expect(!NSPredicate(format: "ANYKEY == 'photo.png'").evaluate(with: NSMetadataItem()))
      let values = try #require(item.values(forAttributes: item.attributes))
      #expect(Set(values.keys) == Set(item.attributes))
    }
  }

  @Test("R36: the item of a directory's URL says the same as a query's")
  func directories() throws {
    try withSandbox { box in
      _ = try box.write("d/.hidden/f")
      let files = HostFileSystem()
      let directory = try files.open(SystemPath(box.url("d").path), at: .workingDirectory, flags: .directory, mode: 0)
      defer { try? files.close(directory) }
      // Where the file system keeps such attributes.
      for (name, value) in [
        ("user.xdg.comment", "fine"), ("user.xdg.tags", "red,blue"), ("user.xdg.origin.url", "x:y"),
      ] {
        try? files.setExtendedAttribute(ExtendedAttributeName(name), of: directory, to: Array(value.utf8))
      }
      for (name, url) in [("d", box.url("d")), (".hidden", box.url("d/.hidden"))] {
        let watcher = QueryWatcher(box, "kMDItemFSName == '\(name)'")
        watcher.gather()
        let found = try #require(watcher.query.result(at: 0) as? NSMetadataItem)
        let made = try #require(NSMetadataItem(url: url))
        #expect(Set(found.attributes) == Set(made.attributes))
        for key in found.attributes {
          #expect("\(found.value(forAttribute: key) as Any)" == "\(made.value(forAttribute: key) as Any)", "\(key)")
        }
      }
    }
  }

  @Test("N-2: a format finds the same in a query, alone, in a compound and in NSArray.filtered")
  func formats() throws {
    try withSandbox { box in
      for name in ["a.txt", "b.TXT", "c.pdf", "sub/d.txt"] { _ = try box.write(name) }
      let predicate = NSPredicate(format: "%K LIKE[c] %@", NSMetadataItemFSNameKey, "*.txt")
      let watcher = QueryWatcher(box)
      watcher.gather()
      let items = try #require(watcher.query.results as? [NSMetadataItem])
      let alone = items.filter { predicate.evaluate(with: $0) }.map(QueryWatcher.name)
      #expect(alone == ["a.txt", "b.TXT", "d.txt"])
      #expect(NSArray(array: items).filtered(using: predicate).map(QueryWatcher.name) == alone)
      watcher.query.predicate = predicate
      #expect(watcher.journal.wait(for: "finished", count: 2))
      #expect(watcher.names == alone)
      let inside = NSPredicate(format: "%K BEGINSWITH %@", NSMetadataItemPathKey, box.url("sub").path)
      watcher.query.predicate = NSCompoundPredicate(
        type: .and,
        subpredicates: [
          predicate, NSCompoundPredicate(notPredicateWithSubpredicate: inside),
        ])
      #expect(watcher.journal.wait(for: "finished", count: 3))
      #expect(watcher.names == ["a.txt", "b.TXT"])
    }
  }

  @Test(
    "A URL counts as its path, in queries and in evaluate(with:)",
    arguments: [
      ("%K == %@", ["a.txt"]), ("%K.lastPathComponent LIKE '?.txt' AND NOT (%K ENDSWITH 'd.txt')", ["a.txt", "b.txt"]),
      ("%K LIKE '*.txt'", ["a.txt", "b.txt", "d.txt"]),
      ("%K.pathExtension == 'txt' AND NOT (%K ENDSWITH 'a.txt')", ["b.txt", "d.txt"]), ("%K IN {%@, 'x'}", ["a.txt"]),
    ])
  func urls(format: String, expected: [String]) throws {
    try withSandbox { box in
      let url = try box.write("a.txt")
      _ = try box.write("b.txt")
      _ = try box.write("c.pdf")
      _ = try box.write("sub/d.txt")
      var arguments: [Any] = []
      for place in format.ranges(of: "%") {
        arguments.append(format[place.upperBound] == "K" ? NSMetadataItemURLKey : url as NSURL)
      }
      let watcher = QueryWatcher(box)
      watcher.query.predicate = NSPredicate(format: format, argumentArray: arguments)
      watcher.gather()
      #expect(watcher.names == expected)
      let all = ["a.txt", "b.txt", "c.pdf", "sub/d.txt"].compactMap { NSMetadataItem(url: box.url($0)) }
      #expect(all.filter { watcher.query.predicate?.evaluate(with: $0) == true }.map(QueryWatcher.name) == expected)
    }
  }

  @Test("Files are found by the directory of their URL, and by names in capitals")
  func directoriesOfURLs() throws {
    try withSandbox { box in
      for name in ["a.txt", "sub/b.txt", "sub/É.txt", "sub/deep/c.txt"] { _ = try box.write(name) }
      let watcher = QueryWatcher(box)
      watcher.query.predicate = NSPredicate(
        format: "%K.URLByDeletingLastPathComponent.path == %@ AND %K LIKE '*.txt'", NSMetadataItemURLKey,
        box.url("sub").path, NSMetadataItemFSNameKey)
      watcher.gather()
      #expect(watcher.names == ["b.txt", "É.txt"])
      watcher.query.predicate = NSPredicate(format: "%K LIKE[CD] %@", NSMetadataItemFSNameKey, "E.TXT")
      #expect(watcher.journal.wait(for: "finished", count: 2))
      #expect(watcher.names == ["É.txt"])
    }
  }

  @Test("Blocks are asked for each item, alone and in compounds, and results follow changes")
  func blocks() throws {
    try withSandbox { box in
      for (name, text) in [("a.txt", "1"), ("b.txt", "22"), ("c.pdf", "333")] { _ = try box.write(name, text) }
      let isOdd = NSPredicate { object, _ in
        ((object as? NSMetadataItem)?.value(forAttribute: NSMetadataItemFSSizeKey) as? Int ?? 0) % 2 == 1
      }
      let isText = NSPredicate(format: "kMDItemFSName ENDSWITH '.txt'")
      let watcher = QueryWatcher(box)
      for (predicate, expected) in [
        (isOdd, ["a.txt", "c.pdf"]),
        (NSCompoundPredicate(notPredicateWithSubpredicate: isOdd), ["b.txt"]),
        (NSCompoundPredicate(orPredicateWithSubpredicates: [isOdd, isText]), ["a.txt", "b.txt", "c.pdf"]),
        (NSPredicate(value: false), []), (NSPredicate(value: true), ["a.txt", "b.txt", "c.pdf"]),
        (NSCompoundPredicate(andPredicateWithSubpredicates: [isOdd, isText]), ["a.txt"]),
      ] {
        watcher.query.stop()
        watcher.query.predicate = predicate
        watcher.gather()
        #expect(watcher.names == expected)
      }
      _ = try box.write("b.txt", "4444")
      try FileManager.default.moveItem(at: box.url("c.pdf"), to: box.url("c.txt"))
      #expect(watcher.journal.wait(for: "updated +c.txt"))
      try FileManager.default.removeItem(at: box.url("a.txt"))
      #expect(watcher.journal.wait(for: "updated -a.txt"))
      #expect(watcher.names == ["c.txt"])
    }
  }

  @Test("N-3: keys order results, also those that only the file knows and comparisons of the program")
  func sorting() throws {
    try withSandbox { box in
      for (name, text) in [("b1", "4444"), ("A10", "22"), ("a2", "22")] { _ = try box.write(name, text) }
      let watcher = QueryWatcher(box)
      let byName = NSSortDescriptor(key: NSMetadataItemFSNameKey, ascending: true)
      let bySize = NSSortDescriptor(key: NSMetadataItemFSSizeKey, ascending: false)
      let byComment = NSSortDescriptor(key: NSMetadataItemFinderCommentKey, ascending: true)
      let byLength = NSSortDescriptor(keyPath: \NSMetadataItem.nameLength, ascending: true)
      for (descriptors, expected) in [
        ([byName], ["a2", "A10", "b1"]), ([bySize, byName], ["b1", "a2", "A10"]),
        ([byComment, bySize, byName], ["b1", "a2", "A10"]), ([byLength, byName], ["a2", "b1", "A10"]),
      ] {
        watcher.query.stop()
        watcher.query.sortDescriptors = descriptors
        watcher.gather()
        #expect(watcher.names == expected)
      }
      _ = try box.write("c", "")
      #expect(watcher.journal.wait(for: "updated +c"))
      #expect(watcher.names == ["c", "a2", "b1", "A10"])
    }
  }

  @Test("R37, R38: every constant has Apple's value")
  func constants() {
    for (constant, value) in ConstantTable.all { #expect(constant == value) }
    #expect(ConstantTable.all.count == 193)
    #expect(Set(ConstantTable.all.map(\.0)).count == 193)
    let notifications: [(Notification.Name, String)] = [
      (.NSMetadataQueryDidStartGathering, "NSMetadataQueryDidStartGatheringNotification"),
      (.NSMetadataQueryGatheringProgress, "NSMetadataQueryGatheringProgressNotification"),
      (.NSMetadataQueryDidFinishGathering, "NSMetadataQueryDidFinishGatheringNotification"),
      (.NSMetadataQueryDidUpdate, "NSMetadataQueryDidUpdateNotification"),
    ]
    for (name, value) in notifications { #expect(name.rawValue == value) }
  }
}

extension NSMetadataItem {
  fileprivate var nameLength: Int { QueryWatcher.name(self).count }
}
