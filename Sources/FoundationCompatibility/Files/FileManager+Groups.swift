#if !canImport(ObjectiveC)
  public import Foundation

  extension FileManager {
    /// The directory that the programs of a group share: `$XDG_DATA_HOME/Group Containers/<group>`, made if it isn't there.
    ///
    /// Without that variable, or if it isn't an absolute path, it's `~/.local/share`, as the XDG base directory
    /// specification says. The directory is for the user alone. Linux doesn't check membership in a group.
    ///
    /// - Parameter groupIdentifier: The name of the group.
    /// - Returns: The directory; `nil` if the name can't be that of a directory, or it can't be made.
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
      let isName = !groupIdentifier.isEmpty && ![".", ".."].contains(groupIdentifier)
      guard isName, !groupIdentifier.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 }) else { return nil }
      let chosen = ProcessInfo.processInfo.environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      let data =
        chosen.map { URL(fileURLWithPath: $0, isDirectory: true) }
        ?? homeDirectoryForCurrentUser.appendingPathComponent(".local/share", isDirectory: true)
      let container = data.appendingPathComponent("Group Containers", isDirectory: true)
        .appendingPathComponent(groupIdentifier, isDirectory: true)
      do {
        try createDirectory(
          at: container, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      } catch { return nil }
      return container
    }
  }
#endif
