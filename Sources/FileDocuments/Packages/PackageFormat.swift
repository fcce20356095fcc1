public import FilePackages
public import FoundationEssentials

/// Directories that count as one document: the contents are trees of members, which are read when they're looked at.
///
/// ```swift
/// let album = FileDocument(url, as: .package)
/// try await album.open(creatingWith: PackageTree())
/// try await album.edit { try? $0.update(SystemPath("cover.png"), picture) }
/// ```
///
/// A save writes the altered members alone, and puts the package in its place in one step; one altered file takes its place alone. ``DocumentState/EditingObstacles/saving`` says
/// that it's under way: ``FileDocument/edit(_:size:within:_:)`` waits for its end, since the members that weren't looked at are in another directory
/// then. Members can be read and replaced alone, see ``FileDocument/contents(ofMember:)`` and ``FileDocument/replaceMember(_:with:within:)``.
///
/// When another program has written the package while something is unsaved, the altered members are the document's, all others are those
/// that the other program wrote, and its package becomes a conflict version. Bytes that changed without a change of dates, as those of a file
/// that's mapped, are such a change if the document alters the member. A crash journal has the altered members, and restoring makes
/// the changes to the package that's there then.
///
/// An edit hashes a member before it alters or removes it that wasn't read, up to 16 MiB.
///
/// - Note: Rules CD-68 to CD-71, CD-74 and CD-76.
public struct PackageFormat: DocumentFormat {
  struct NotAFile: Error, CustomStringConvertible {
    var description: String { "A package isn't a file: it's read and written member by member." }
  }

  /// Creates the format.
  public init() {}

  /// Never called: packages aren't read as bytes.
  ///
  /// - Parameter bytes: Bytes.
  /// - Returns: Nothing.
  /// - Throws: An error, always.
  public func contents(of bytes: Data) throws -> PackageTree { throw NotAFile() }

  /// Never called: packages aren't written as bytes.
  ///
  /// - Parameter contents: A package.
  /// - Returns: Nothing.
  /// - Throws: An error, always.
  public func bytes(of contents: PackageTree) throws -> Data { throw NotAFile() }
}

extension DocumentFormat where Self == PackageFormat {
  /// Directories that count as one document.
  public static var package: PackageFormat { PackageFormat() }
}
