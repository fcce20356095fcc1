import Foundation
import FoundationCompatibility
import Scene

// A document that is a package, as people write it: wrappers for its text and its pictures, the whole tree handed to a save, and only the
// wrapper of what has changed made anew.

final class Album {
  private enum Names {
    static let info = "Info.json"
    static let pictures = "Pictures"
  }

  private struct Info: Codable {
    var title = "Untitled"
    var order: [String] = []
  }

  private var info = Info() { didSet { infoIsEdited = true } }
  private var infoIsEdited = true
  private var root = FileWrapper(directoryWithFileWrappers: [:])

  var title: String {
    get { info.title }
    set { info.title = newValue }
  }

  var pictureNames: [String] { info.order }

  private var pictures: FileWrapper {
    if let present = root.fileWrappers?[Names.pictures] { return present }
    let pictures = FileWrapper(directoryWithFileWrappers: [:])
    pictures.preferredFilename = Names.pictures
    _ = root.addFileWrapper(pictures)
    return pictures
  }

  func add(_ picture: Data, named name: String) {
    info.order.append(pictures.addRegularFile(withContents: picture, preferredFilename: name))
  }

  func remove(_ key: String) {
    guard let picture = pictures.fileWrappers?[key] else { return }
    pictures.removeFileWrapper(picture)
    info.order.removeAll { $0 == key }
  }

  func picture(_ key: String) -> Data? { pictures.fileWrappers?[key]?.regularFileContents }

  /// The contents for which a document class is asked when it saves.
  func contents() throws -> FileWrapper {
    if infoIsEdited {
      if let old = root.fileWrappers?[Names.info] { root.removeFileWrapper(old) }
      _ = root.addRegularFile(withContents: try JSONEncoder().encode(info), preferredFilename: Names.info)
      infoIsEdited = false
    }
    return root
  }

  /// The contents that a document class hands over when it opens.
  func load(from wrapper: FileWrapper) throws {
    guard wrapper.isDirectory, let data = wrapper.fileWrappers?[Names.info]?.regularFileContents else {
      throw CocoaError(.fileReadCorruptFile)
    }
    info = try JSONDecoder().decode(Info.self, from: data)
    root = wrapper
    infoIsEdited = false
  }

  func save(to url: URL) throws {
    let isNew = !FileManager.default.fileExists(atPath: url.path)
    try contents().write(
      to: url, options: isNew ? .withNameUpdating : [.atomic, .withNameUpdating], originalContentsURL: isNew ? nil : url
    )
  }
}

@main
struct Program {
  static func main() throws {
    let url = Scene.folder.appendingPathComponent("Summer.album")
    let album = Album()
    album.title = "Summer"
    album.add(Data("beach".utf8), named: "IMG_1.jpg")
    album.add(Data("hills".utf8), named: "IMG_1.jpg")
    Scene.check(album.pictureNames == ["IMG_1.jpg", "IMG_1 2.jpg"], "\(album.pictureNames)")
    try album.save(to: url)

    let other = Album()
    try other.load(from: FileWrapper(url: url, options: []))
    Scene.check(other.title == "Summer" && other.picture("IMG_1 2.jpg") == Data("hills".utf8), "not what was saved")
    let picture = url.appendingPathComponent("Pictures/IMG_1.jpg")
    let number = try FileManager.default.attributesOfItem(atPath: picture.path)[.systemFileNumber] as? Int
    other.title = "Summer of the hills"
    try other.save(to: url)
    let newNumber = try FileManager.default.attributesOfItem(atPath: picture.path)[.systemFileNumber] as? Int
    Scene.check(number == newNumber, "an unchanged picture was written")

    // The first one has seen nothing of it: its picture is gone with the old package, and not mistaken for the new one.
    Scene.check(album.picture("IMG_1.jpg") == Data("beach".utf8), "what was in memory is lost")
    try album.load(from: FileWrapper(url: url, options: .immediate))
    album.remove("IMG_1.jpg")
    try album.save(to: url)
    Scene.check(!FileManager.default.fileExists(atPath: picture.path), "a picture that was removed is there")

    do {
      try FileWrapper(directoryWithFileWrappers: [:]).write(to: url, options: [], originalContentsURL: nil)
      Scene.check(false, "overwritten")
    } catch CocoaError.fileWriteFileExists {}

    let archive = try album.contents().serializedRepresentation
    let copy = Album()
    try copy.load(from: archive.flatMap(FileWrapper.init(serializedRepresentation:)) ?? FileWrapper(url: url))
    Scene.check(copy.title == "Summer of the hills" && copy.pictureNames == ["IMG_1 2.jpg"], "\(copy.pictureNames)")
    Scene.finish()
  }
}
