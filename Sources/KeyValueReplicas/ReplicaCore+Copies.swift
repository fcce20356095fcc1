// Two machines may have the same journal: a home that was copied, a disk image, a backup that was restored while the machine went on. Both would
// take the acknowledgements of the other one's uploads for their own, and never upload what they've written. So the number of an upload
// is one that no copy uses, and a replica that finds an acknowledgement with another number becomes a new replica.

extension ReplicaCore {
  /// A number for the next upload, greater than that of each earlier one of this replica.
  ///
  /// It has the instant in it, and so copies of this replica don't use it too, also where clocks are behind.
  func uploadNumber(at now: Int64) -> Int {
    let start = max(lastUpload, Int(min(max(now, 0), HybridTime.wallMax)))
    return start + 1 + Int(Self.mixed(UInt64(bitPattern: now)) % 65_536)
  }

  /// Whether an acknowledgement of this replica is that of an upload which it didn't make.
  ///
  /// That of a server which was restored from a backup is older than the one that's known.
  func isOfCopy(_ new: Acknowledgement?) -> Bool {
    guard let new, new.revision > acknowledgement?.revision ?? 0 else { return false }
    return new.upload != attempt?.id && new.upload != acknowledgement?.upload && new.upload != lastUpload
  }

  /// Goes on under a name of its own.
  ///
  /// An upload that's under way under the former name can't be carried out any more, because it expects an acknowledgement that has changed.
  mutating func becomeAnother(at now: Int64) {
    let number = Self.mixed(replica.rawValue ^ Self.mixed(UInt64(bitPattern: now) ^ UInt64(lastUpload.magnitude)))
    // 0 is that of a replica without a journal.
    clock = HybridClock(ReplicaID(rawValue: max(1, number)), wall: clock.wall, count: clock.count)
    attempt = nil
    needsRead = false
    acknowledgement = nil
  }

  /// A number whose bits all depend on all bits of another one, and which no other number leads to (SplitMix64).
  private static func mixed(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
