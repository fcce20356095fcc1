internal import ContentHashing
internal import SystemInterface

/// Where things are in the directory of a store.
///
///     format                                the name and the number of the format, as text
///     contents/ab/abcdef…                   the contents of files, each once, named by its SHA-256
///     items/12/1234…/VERSION/record         the attributes of a version
///     items/12/1234…/VERSION/contents/NAME  the version: another name of a file in `contents`, or a directory of such names
///     items/12/1234…/VERSION/members        of a package: a line for each member
///     items/12/1234…/VERSION/sha256         of a large file: the hash that its record doesn't have
///     items/12/1234…/VERSION/step           of a version that was removed before its addition was completed: the step to complete
///     items/12/1234…/open/VERSION           the step to complete of the addition of the version
///     items/12/1234…/bare/VERSION           a version that has no directory yet: its file, with the record as an attribute
///     items/12/1234…/item                   the path of the item
///     items/12/1234…/resolving              the changes of conflicts that follow when their file has got the result
///     removed/1234…/VERSION@TIME            a version that was removed and can be brought back for a while
///     removed/1234…@in-place                another name of `format`: the item has versions that were removed without room
///     items/12/1234…/VERSION                with another letter for the hyphen: such a version, the time of its directory is that of its removal
///     items/12/1234…/bare/VERSION           the same of one that has no directory
///     items/12/1234…/list                   all records of the item's versions in one file, a cache
///     places/home/me/a.txt/=item            the item at `/home/me/a.txt`
///     steps/…                               operations that are under way; after a crash they're undone or completed
///     steps/saving-HASH.PROCESS             a save of the item whose path has the hash: where what it replaces is until it's gone
///     steps/retyping-HASH-HASH.PROCESS      a file that takes the place of another one with another name, by the hashes of both paths
struct StoreLayout: Sendable {
  let root: SystemPath

  var format: SystemPath { root.appending("format") }
  var contents: SystemPath { root.appending("contents") }
  var items: SystemPath { root.appending("items") }
  var places: SystemPath { root.appending("places") }
  var removed: SystemPath { root.appending("removed") }
  var steps: SystemPath { root.appending("steps") }

  func contents(of hash: ContentHash) -> SystemPath {
    contents.appending(String(hash.description.prefix(2))).appending(hash.description)
  }

  func directory(of item: ItemID) -> SystemPath {
    items.appending(String(item.description.prefix(2))).appending(item.description)
  }

  func record(of item: ItemID) -> SystemPath { directory(of: item).appending("item") }

  func resolution(of item: ItemID) -> SystemPath { directory(of: item).appending("resolving") }

  /// The directory of an item's versions that were removed.
  func removals(of item: ItemID) -> SystemPath { removed.appending(item.description) }

  /// Says that some of an item's removed versions are where the item's versions are.
  func removalMark(of item: ItemID) -> SystemPath { removed.appending(item.description + Self.removalMarkEnd) }

  /// The item of which a name in ``removed`` is.
  static func item(ofRemovals name: SystemPath) -> ItemID? {
    let text = name.description
    return ItemID(text.hasSuffix(removalMarkEnd) ? String(text.dropLast(removalMarkEnd.count)) : text)
  }

  private static let removalMarkEnd = "@in-place"

  func listing(of item: ItemID) -> SystemPath { directory(of: item).appending("list") }

  func directory(of version: VersionID, of item: ItemID) -> SystemPath {
    directory(of: item).appending(version.description)
  }

  /// The record of the step that may have to be completed of a version's addition; so nobody looks for it among all versions.
  ///
  /// It's made before the version gets its place. That of a move into the store is another name of the version's record, which has the lines
  /// of the step behind its own. If it's empty, the power failed, or it's one of an earlier release, which had the
  /// record in the version's directory, see ``ownStep(of:of:)``.
  func mark(of version: VersionID, of item: ItemID) -> SystemPath {
    marks(of: item).appending(version.description)
  }

  /// The directory of the marks: that of the item has as many names as there are versions.
  func marks(of item: ItemID) -> SystemPath { directory(of: item).appending(Self.marksName) }

  static let marksName = "open"

  /// The place of a version that has no directory yet.
  func bare(_ version: VersionID, of item: ItemID) -> SystemPath {
    bareVersions(of: item).appending(version.description)
  }

  func bareVersions(of item: ItemID) -> SystemPath { directory(of: item).appending("bare") }

  /// A copy of the mark's record, with which a version is removed and brought back; there's a mark as well as long as the version is listed.
  func ownStep(of version: VersionID, of item: ItemID) -> SystemPath {
    directory(of: version, of: item).appending(Self.step)
  }

  func step(_ name: String) -> SystemPath { steps.appending(name) }

  // MARK: Inside the directory of a version

  static let record = "record"
  static let contentsName = "contents"
  static let members = "members"
  static let hash = "sha256"
  /// See ``ownStep(of:of:)``.
  static let step = "step"

  // MARK: Places

  static let itemName = "=item"
  static let goneName = "=gone."

  /// The directory that stands for a path: components that begin with `=` get another one, so that they aren't files of the store.
  func place(of path: SystemPath) -> SystemPath {
    var place = places
    for component in path.bytes.split(separator: SystemPath.separator) {
      let escape: [UInt8] = component.first == UInt8(ascii: "=") ? [UInt8(ascii: "=")] : []
      place = place.appending(SystemPath(bytes: escape + component))
    }
    return place
  }

  /// The path that a directory below ``places`` stands for.
  func path(ofPlace place: SystemPath) -> SystemPath {
    let inside = place.bytes.dropFirst(places.bytes.count)
    let components = inside.split(separator: SystemPath.separator).map { component in
      component.starts(with: "==".utf8) ? component.dropFirst() : component
    }
    return SystemPath(bytes: [SystemPath.separator] + components.joined(separator: [SystemPath.separator]))
  }
}
