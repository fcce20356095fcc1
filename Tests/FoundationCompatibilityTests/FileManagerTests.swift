import Foundation
import FoundationCompatibility
import Testing

@Suite("Apple's file manager, signed out", .timeLimit(.minutes(4)))
struct FileManagerTests {
  private let files = FileManager.default

  @Test("Nobody is signed in: containers are nowhere, and what needs one throws and changes nothing")
  func signedOut() throws {
    try withSandbox { box in
      let url = try box.write("f")
      #expect(files.ubiquityIdentityToken == nil)
      #expect(files.url(forUbiquityContainerIdentifier: nil) == nil)
      #expect(!files.isUbiquitousItem(at: url))
      let values = try url.resourceValues(forKeys: [.isUbiquitousItemKey])
      #expect(values.ubiquitousItemDownloadingStatus == nil && values.ubiquitousItemIsShared == nil)
      #expect(values.ubiquitousSharedItemCurrentUserRole != .owner)
      #expect(values.ubiquitousSharedItemCurrentUserPermissions != .readWrite)
      let calls: [() throws -> Void] = [
        { try files.setUbiquitous(true, itemAt: url, destinationURL: box.url("g")) },
        { try files.startDownloadingUbiquitousItem(at: url) }, { try files.evictUbiquitousItem(at: url) },
        { _ = try files.url(forPublishingUbiquitousItemAt: url, expiration: nil) },
      ]
      for call in calls {
        let error = #expect(throws: CocoaError.self) { try call() }
        #expect(error?.code == .featureUnsupported)
      }
      #expect(try box.text(url) == "old")
    }
  }

  @Test("Security scopes let everybody in, and promised items are there")
  func scopes() throws {
    try withSandbox { box in
      let url = try box.write("f", "1234")
      #expect(url.startAccessingSecurityScopedResource())
      #expect((url as NSURL).startAccessingSecurityScopedResource())
      url.stopAccessingSecurityScopedResource()
      (url as NSURL).stopAccessingSecurityScopedResource()
      #expect(try url.promisedItemResourceValues(forKeys: [.fileSizeKey]).fileSize == 4)
      #expect(try url.checkPromisedItemIsReachable())
      #expect(autoreleasepool { 5 } == 5)
      #expect(throws: CocoaError.self) { try autoreleasepool { throw CocoaError(.userCancelled) } }
      #expect(URLUbiquitousItemDownloadingStatus.current.rawValue.hasSuffix("Current"))
    }
  }

  @Test("Replacing puts the new contents in the old place, with the old mode or the new one", arguments: [true, false])
  func replacing(newMetadata: Bool) throws {
    try withSandbox { box in
      let (old, new) = (try box.write("old"), try box.write("new", "new"))
      try files.setAttributes([.posixPermissions: 0o640], ofItemAtPath: old.path)
      try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: new.path)
      var result: NSURL?
      try files.replaceItem(
        at: old, withItemAt: new, backupItemName: nil, options: newMetadata ? .usingNewMetadataOnly : [],
        resultingItemURL: &result)
      #expect(try box.text(old) == "new")
      #expect(!files.fileExists(atPath: new.path))
      #expect(result as URL? == old)
      let mode = try files.attributesOfItem(atPath: old.path)[.posixPermissions] as? Int
      #expect(mode == (newMetadata ? 0o600 : 0o640))
      #expect(try files.contentsOfDirectory(atPath: box.root.path) == ["old"])
    }
  }

  @Test("A backup is kept if wanted", arguments: [true, false])
  func backups(keeps: Bool) throws {
    try withSandbox { box in
      let (old, new) = (try box.write("old"), try box.write("new", "new"))
      try files.replaceItem(
        at: old, withItemAt: new, backupItemName: "backup", options: keeps ? .withoutDeletingBackupItem : [],
        resultingItemURL: nil)
      #expect(try box.text(old) == "new")
      let names = try files.contentsOfDirectory(atPath: box.root.path).sorted()
      #expect(names == (keeps ? ["backup", "old"] : ["old"]))
      if keeps { #expect(try box.text(box.url("backup")) == "old") }
    }
  }

  @Test(
    "A backup in the place of the new item, or of the original, is refused before anything is touched",
    arguments: ["new", "old", "link"])
  func backupInTheWay(name: String) throws {
    try withSandbox { box in
      let (old, new) = (try box.write("old", "old"), try box.write("new", "new"))
      try files.createSymbolicLink(at: box.url("link"), withDestinationURL: new)
      #expect(throws: CocoaError.self) {
        try files.replaceItem(at: old, withItemAt: new, backupItemName: name, resultingItemURL: nil)
      }
      #expect(try box.text(old) == "old" && box.text(new) == "new")
    }
  }

  @Test("PP-14: replaceItemAt in the forms that people write keeps the new contents", arguments: [0, 1, 2, 3])
  func replacingAt(form: Int) throws {
    try withSandbox { box in
      let (old, new) = (try box.write("old"), try box.write("new", "new"))
      let result =
        switch form {
        case 0: try files.replaceItemAt(old, withItemAt: new)
        case 1: try files.replaceItemAt(old, withItemAt: new, backupItemName: nil)
        case 2: try files.replaceItemAt(old, withItemAt: new, backupItemName: "backup")
        default: try files.replaceItemAt(old, withItemAt: new, options: .usingNewMetadataOnly)
        }
      #expect(result == old)
      #expect(try box.text(old) == "new")
      #expect(try files.contentsOfDirectory(atPath: box.root.path) == ["old"])
      try files.removeItem(at: old)
      let newest = try box.write("newest", "newest")
      try files.replaceItemAt(old, withItemAt: newest)
      #expect(try box.text(old) == "newest" && !files.fileExists(atPath: newest.path))
    }
  }

  /// Whether there's a second file system for every user.
  private static let hasOtherDevice: Bool = {
    func device(_ path: String) -> Int? {
      (try? FileManager.default.attributesOfItem(atPath: path))?[.systemNumber] as? Int
    }
    return device("/dev/shm") != nil && device("/dev/shm") != device(NSTemporaryDirectory())
  }()

  @Test(
    "Replacing works across file systems, and whatever step fails, both files are there", .enabled(if: hasOtherDevice))
  func acrossDevices() throws {
    try withSandbox { box in
      let elsewhere = URL(fileURLWithPath: "/dev/shm/replace-\(UUID().uuidString)")
      defer { try? files.removeItem(at: elsewhere) }
      try Data("new".utf8).write(to: elsewhere)
      let old = try box.write("old")
      // A backup that can't be made, after the metadata were copied.
      let longName = String(repeating: "x", count: 300)
      #expect(throws: CocoaError.self) {
        try files.replaceItemAt(old, withItemAt: elsewhere, backupItemName: longName)
      }
      #expect(try box.text(old) == "old" && box.text(elsewhere) == "new")
      #expect(throws: CocoaError.self) { try files.replaceItemAt(old, withItemAt: box.url("missing")) }
      #expect(throws: CocoaError.self) { try files.replaceItemAt(old, withItemAt: old) }
      #expect(throws: CocoaError.self) { try files.replaceItemAt(old, withItemAt: box.root) }
      #expect(try box.text(old) == "old")
      try files.replaceItemAt(old, withItemAt: elsewhere, backupItemName: "backup")
      #expect(try box.text(old) == "new" && !files.fileExists(atPath: elsewhere.path))
      #expect(try files.contentsOfDirectory(atPath: box.root.path) == ["old"])
    }
  }

  @Test("The container of a group is a directory of the user's data, for names that can be one's")
  func groupContainers() throws {
    let name = "group.test-\(UUID().uuidString)"
    let url = try #require(files.containerURL(forSecurityApplicationGroupIdentifier: name))
    defer { try? files.removeItem(at: url) }
    #expect(url.lastPathComponent == name && url.deletingLastPathComponent().lastPathComponent == "Group Containers")
    var isDirectory: ObjCBool = false
    #expect(unsafe files.fileExists(atPath: url.path, isDirectory: &isDirectory) && isDirectory.boolValue)
    #expect(try files.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int == 0o700)
    #expect(files.containerURL(forSecurityApplicationGroupIdentifier: name) == url)
    for bad in ["", ".", "..", "a/b", "a\0b"] {
      #expect(files.containerURL(forSecurityApplicationGroupIdentifier: bad) == nil)
    }
  }

  @Test("Keys that Foundation lacks are there, and no value is known")
  func resourceKeys() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let values = try url.resourceValues(forKeys: [
        .ubiquitousItemIsSharedKey, .fileContentIdentifierKey, .mayHaveExtendedAttributesKey, .isSparseKey,
        .directoryEntryCountKey, .volumeAvailableCapacityForImportantUsageKey,
      ])
      #expect(values.fileContentIdentifier == nil && values.isSparse == nil && values.directoryEntryCount == nil)
      #expect(URLResourceKey.ubiquitousItemIsSharedKey.rawValue == "NSURLUbiquitousItemIsSharedKey")
    }
  }

  @Test("A directory is replaced whole, and a missing item is an error that changes nothing")
  func directoriesAndMissingItems() throws {
    try withSandbox { box in
      _ = try box.write("old.d/a")
      let inside = try box.write("new.d/b", "new")
      let (old, new) = (box.url("old.d"), box.url("new.d"))
      try files.replaceItem(at: old, withItemAt: new, backupItemName: nil, resultingItemURL: nil)
      #expect(try files.contentsOfDirectory(atPath: old.path) == [inside.lastPathComponent])
      #expect(!files.fileExists(atPath: new.path))
      let error = #expect(throws: CocoaError.self) {
        try files.replaceItem(at: old, withItemAt: new, backupItemName: nil, resultingItemURL: nil)
      }
      #expect(error?.code == .fileNoSuchFile)
      #expect(throws: CocoaError.self) {
        try files.replaceItem(at: box.url("none"), withItemAt: old, backupItemName: nil, resultingItemURL: nil)
      }
      #expect(try files.contentsOfDirectory(atPath: old.path) == ["b"])
    }
  }
}
