/// A watched directory, by the number the kernel gave it.
///
/// Two paths that lead to one directory have one watch.
package struct NameWatch: Hashable, Sendable {
  package let rawValue: Int32

  package init(rawValue: Int32) { self.rawValue = rawValue }
}

/// An event in or of a watched directory.
package enum NameChange: Hashable, Sendable {
  /// A name in the directory appeared, disappeared or was replaced.
  case name(NameWatch, [UInt8])
  /// The directory itself was moved, deleted or unmounted.
  case directory(NameWatch)
  /// The directory isn't watched any more; the last that is heard of this watch.
  case ended(NameWatch)
  /// Changes were lost, or file systems were mounted or unmounted: anything may be different.
  case everything
}

/// The door to the changes of names: events in watched directories, in order.
///
/// A change is in the queue before the system call that makes it returns. So a caller that finds the queue empty has
/// received every change that came before.
package protocol NameChangeQueue: AnyObject, Sendable {
  /// Whether no change waits. Any thread may ask at any time.
  var isEmpty: Bool { get }

  /// Begins to watch a directory; watching it again gives the same watch.
  ///
  /// - Parameter directory: The canonical path of a directory.
  /// - Returns: The number in its changes.
  /// - Throws: EOPNOTSUPP where not every change is reported: on file systems that others change behind the kernel's
  ///   back, and in directories where names that differ only in case are the same. ENOSPC or EMFILE when the system's
  ///   limits are reached. EACCES for a directory whose names can't be listed.
  func watch(_ directory: SystemPath) throws(SystemError) -> NameWatch

  /// Ends a watch. Earlier changes are reported nevertheless, then ``NameChange/ended(_:)``.
  func unwatch(_ watch: NameWatch)

  /// Takes out the changes in the queue when the call began, and perhaps some more.
  func takeChanges() -> [NameChange]

  /// Whether file systems were mounted or unmounted since the last call; reported once.
  func takeMountChange() -> Bool
}

/// A file system that can report changes of names.
///
/// Not a requirement of ``FileSystem``: a door in front of another one sees calls, not changes.
package protocol NameChangeSource: FileSystem {
  /// Makes a queue of its own, which takes no resources until something is watched.
  func makeNameChangeQueue() -> any NameChangeQueue
}
