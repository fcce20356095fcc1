#if !canImport(ObjectiveC)
  public import Foundation
  internal import Glibc
  internal import SystemInterface

  extension FileManager {
    /// Moves an item to the trash, from where people can take it back.
    ///
    /// That's where desktops expect it: `$XDG_DATA_HOME/Trash`, or `.Trash-` and the user's number at the top of
    /// another volume. If the other volume doesn't let the program do that, the item is copied to the first and
    /// removed. A symbolic link is moved itself. An item whose name is in the trash already gets a number. Doesn't
    /// coordinate: write `.forDeleting` around it.
    ///
    /// - Parameters:
    ///   - url: The item.
    ///   - outResultingURL: Where to put the URL of the item in the trash; `nil` for nowhere.
    /// - Throws: `CocoaError`; the item is still where it was.
    public func trashItem(at url: URL, resultingItemURL outResultingURL: UnsafeMutablePointer<NSURL?>?) throws {
      guard url.isFileURL else { throw CocoaError(.fileWriteUnsupportedScheme, userInfo: [NSURLErrorKey: url]) }
      do throws(SystemError) {
        let item = try HostFileSystem().canonicalPath(
          of: url.systemPath, resolvingLastComponent: false)
        let place = try Self.trash(item)
        unsafe outResultingURL?.pointee = place.foundationURL as NSURL
      } catch { throw Self.cocoaError(error, url) }
    }

    private static func trash(_ item: SystemPath) throws(SystemError) -> SystemPath {
      let places = try Trash.place(for: item)
      for trash in places.dropLast() {
        // Another volume may be for reading only at its top.
        if let place = try? trash.put(item) { return place }
      }
      guard let last = places.last else { preconditionFailure("no trash") }
      return try last.put(item)
    }
  }
#endif
