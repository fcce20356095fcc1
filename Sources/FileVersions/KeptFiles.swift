internal import SystemInterface
internal import VersionStore

/// The files that were kept a moment ago, until the change is reported that the tag of their history is.
///
/// A file that's kept first gets a tag, which is a change of its attributes. Without this, each file below a directory would be looked at
/// twice, with accesses and a look into the store.
struct KeptFiles {
  /// How many are remembered: a change of one that isn't is looked at.
  static let countMax = 100_000

  private var versions: [SystemPath: StoredVersion] = [:]

  /// Notes that a file's contents have become a version.
  mutating func note(_ path: SystemPath, _ version: StoredVersion) {
    if versions.count >= Self.countMax { versions.removeAll() }
    versions[path] = version
  }

  /// The version to compare a file with of which a change is reported; `nil` if it has to be looked at.
  ///
  /// Only once: the next change is another one.
  mutating func take(_ path: SystemPath) -> StoredVersion? { versions.removeValue(forKey: path) }
}
