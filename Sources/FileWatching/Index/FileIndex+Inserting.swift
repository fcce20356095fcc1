internal import SystemInterface

extension FileIndex {
  /// The parts of a listing that need more than a row.
  struct Remarkable {
    /// Directories, symbolic links, and files with several names.
    var files: [(FileNumber, FileFacts)] = []
    var errors: [SystemError] = []
    /// Whether there was no room for something.
    var isFull = false
  }

  /// Adds members of a directory that aren't in the index.
  ///
  /// - Parameters:
  ///   - listing: The members, no name twice.
  ///   - directory: The directory.
  ///   - device: The device that it's on.
  ///   - moment: When it was read, as files get it for their times.
  ///   - numbers: Gets the new numbers.
  /// - Returns: The members that need more work.
  /// - Complexity: O(*n*).
  mutating func insert(
    _ listing: DirectoryListing, in directory: FileNumber, device: UInt64, readAt moment: Int64,
    _ numbers: inout FileNumberSet
  ) -> Remarkable {
    var remarkable = Remarkable()
    for member in listing.members {
      if member.errorNumber != 0 {
        remarkable.errors.append(SystemError(.status, errno: member.errorNumber))
        continue
      }
      let facts = FileFacts(listing, member, device: device, readAt: moment)
      guard let number = listing.withName(of: member, { insert($0, in: directory, facts) }) else {
        remarkable.isFull = true
        continue
      }
      numbers.insert(number)
      if facts.isRemarkable { remarkable.files.append((number, facts)) }
    }
    return remarkable
  }
}
