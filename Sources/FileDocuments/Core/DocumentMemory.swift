/// The contents that a document has in memory, and what they were made from.
///
/// Three of them at most: the document's, those in the file as far as known, and those that an operation has just read.
///
/// A tag identifies the bytes of contents without keeping them.
package struct DocumentMemory<Contents, Tag> {
  /// Contents of a file.
  package struct Stored {
    /// Absent if the format can't read them.
    package var contents: Contents?
    package var tag: Tag

    package init(_ contents: Contents?, _ tag: Tag) {
      self.contents = contents
      self.tag = tag
    }
  }

  /// Those of the document; `nil` while it's closed.
  package var contents: Contents?
  /// Those that the file had when it was read or written last.
  package private(set) var base: Stored?
  /// Those that an operation has read or written, or made by merging, until the core decides.
  package var incoming: Stored?
  /// Those that the program says to have put in the file by itself, since then.
  package private(set) var noted: Contents?
  /// Those that were made of the document's and the incoming ones.
  package var merged: Contents?

  package init() {}

  package mutating func apply(_ change: MemoryChange) {
    switch change {
    case .adoptIncoming:
      contents = readIncoming()
      base = incoming
    case .useIncoming: contents = readIncoming()
    case .rebase, .noteWritten:
      precondition(incoming != nil, "nothing has come")
      base = incoming
    case .useMerged:
      precondition(merged != nil && incoming != nil, "nothing was merged")
      contents = merged
      base = incoming
    case .dropIncoming: break
    case .forget:
      contents = nil
      base = nil
    }
    if change != .dropIncoming, change != .useIncoming { noted = nil }
    incoming = nil
    merged = nil
  }

  /// The program has put contents in the file by itself.
  package mutating func note(_ contents: Contents) { noted = contents }

  /// The program has replaced the file with its own contents by itself.
  package mutating func rebase(_ stored: Stored) {
    base = stored
    noted = nil
  }

  /// A part of the file was replaced with the contents as they are now.
  package mutating func adoptReplacedMember(_ stored: Stored) {
    contents = stored.contents
    base = stored
    noted = nil
    incoming = nil
  }

  private func readIncoming() -> Contents {
    guard let contents = incoming?.contents else { preconditionFailure("nothing readable has come") }
    return contents
  }
}

extension DocumentMemory: Sendable where Contents: Sendable, Tag: Sendable {}
extension DocumentMemory.Stored: Sendable where Contents: Sendable, Tag: Sendable {}
extension DocumentMemory: Equatable where Contents: Equatable, Tag: Equatable {}
extension DocumentMemory.Stored: Equatable where Contents: Equatable, Tag: Equatable {}
extension DocumentMemory: Hashable where Contents: Hashable, Tag: Hashable {}
extension DocumentMemory.Stored: Hashable where Contents: Hashable, Tag: Hashable {}
