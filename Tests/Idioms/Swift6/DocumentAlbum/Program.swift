import Foundation
import FoundationCompatibility
import Scene

// A document class for a package: pictures that are read when they're looked at, a preview that each save makes anew.

class AlbumDocument: UIDocument {
  private var wrapper: FileWrapper?
  private var captions: [String: String] = [:]
  private(set) var lastSaveSucceeded = false

  override func contents(forType typeName: String) throws -> Any {
    let root = wrapper ?? FileWrapper(directoryWithFileWrappers: [:])
    if let old = root.fileWrappers?["Captions.json"] { root.removeFileWrapper(old) }
    root.addRegularFile(withContents: try JSONEncoder().encode(captions), preferredFilename: "Captions.json")
    if root.fileWrappers?["Pictures"] == nil {
      let pictures = FileWrapper(directoryWithFileWrappers: [:])
      pictures.preferredFilename = "Pictures"
      root.addFileWrapper(pictures)
    }
    wrapper = root
    return root
  }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    guard let root = contents as? FileWrapper, let data = root.fileWrappers?["Captions.json"]?.regularFileContents
    else {
      throw CocoaError(.fileReadCorruptFile)
    }
    captions = try JSONDecoder().decode([String: String].self, from: data)
    wrapper = root
  }

  override func save(
    to url: URL, for saveOperation: UIDocument.SaveOperation, completionHandler: ((Bool) -> Void)? = nil
  ) {
    super.save(to: url, for: saveOperation) { success in
      self.lastSaveSucceeded = success
      completionHandler?(success)
    }
  }

  override func fileAttributesToWrite(
    to url: URL, for saveOperation: UIDocument.SaveOperation
  ) throws -> [AnyHashable: Any] {
    [FileAttributeKey.posixPermissions: 0o750]
  }

  var pictureNames: [String] { wrapper?.fileWrappers?["Pictures"]?.fileWrappers?.keys.sorted() ?? [] }

  func picture(_ name: String) -> Data? {
    wrapper?.fileWrappers?["Pictures"]?.fileWrappers?[name]?.regularFileContents
  }

  func caption(_ name: String) -> String? { captions[name] }

  func setCaption(_ caption: String, of name: String) {
    captions[name] = caption
    updateChangeCount(.done)
  }

  func add(_ picture: Data, named name: String) {
    guard let pictures = wrapper?.fileWrappers?["Pictures"] else { return }
    pictures.addRegularFile(withContents: picture, preferredFilename: name)
    updateChangeCount(.done)
  }
}

@main @MainActor
struct Program {
  static func number(_ url: URL) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: url.path))?[.systemFileNumber] as? Int
  }

  static func main() async throws {
    let url = Scene.folder.appendingPathComponent("Summer.album")
    let album = AlbumDocument(fileURL: url)
    let isMade = await album.save(to: url, for: .forCreating)
    Scene.check(isMade && album.documentState == .normal && album.lastSaveSucceeded, "made")
    album.add(Data("beach".utf8), named: "1.jpg")
    album.add(Data("hills".utf8), named: "2.jpg")
    album.setCaption("The beach", of: "1.jpg")
    let isSaved = await album.save(to: url, for: .forOverwriting)
    Scene.check(isSaved, "saved")
    let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    Scene.check(mode == 0o750, "attributes of the class")

    let first = url.appendingPathComponent("Pictures/1.jpg")
    let before = number(first)
    album.setCaption("The hills", of: "2.jpg")
    let isClosed = await album.close()
    Scene.check(isClosed && before != nil && number(first) == before, "an unchanged picture was written")

    let other = AlbumDocument(fileURL: url)
    let isOpen = await other.open()
    Scene.check(isOpen && other.pictureNames == ["1.jpg", "2.jpg"], "\(other.pictureNames)")
    Scene.check(other.caption("2.jpg") == "The hills" && other.picture("1.jpg") == Data("beach".utf8), "read")
    other.add(Data("lake".utf8), named: "3.jpg")
    let isOtherClosed = await other.close()
    Scene.check(isOtherClosed && FileManager.default.fileExists(atPath: first.path), "closed")
    let names = try FileManager.default.contentsOfDirectory(atPath: Scene.folder.path)
    Scene.check(names == ["Summer.album"], "left behind: \(names)")
    Scene.finish()
  }
}
