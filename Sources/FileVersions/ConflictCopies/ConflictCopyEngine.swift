/// A program that synchronizes files and, where two have changed one, puts a copy beside it.
///
/// | engine | the copy of `a.txt` |
/// | --- | --- |
/// | ``syncthing`` | `a.sync-conflict-20260102-030405-ABCDEFG.txt` |
/// | ``nextcloud`` | `a (conflicted copy 2026-01-02 030405).txt`, `a (conflicted copy jane 2026-01-02 030405).txt` |
/// | ``ownCloud`` | the same; before its release 2.5 `a_conflict-20260102-030405.txt` |
/// | ``dropbox`` | `a (Jane's conflicted copy 2026-01-02).txt`, `a (conflicted copy 2026-01-02 (1)).txt` |
/// | ``seafile`` | `a (SFConflict jane@example.org 2026-01-02-03-04-05).txt`, or with that behind the extension |
/// | ``rclone`` | `a.txt.conflict1`, `a.conflict1.txt`; before its release 1.66 `a.txt..path1` |
///
/// Names are those of the engines' documentation, in English. A name that an engine has translated, or a person has altered, isn't
/// recognized.
public struct ConflictCopyEngine: Hashable, Sendable, CustomStringConvertible {
  enum Scheme: Hashable, Sendable {
    case syncthing, nextcloud, ownCloud, dropbox, seafile
    /// `nil` for the suffixes that it has if nobody chooses another one.
    case rclone(suffix: String?)
  }

  let scheme: Scheme

  /// Syncthing.
  public static let syncthing = ConflictCopyEngine(scheme: .syncthing)
  /// The desktop client of Nextcloud.
  public static let nextcloud = ConflictCopyEngine(scheme: .nextcloud)
  /// The desktop client of ownCloud.
  public static let ownCloud = ConflictCopyEngine(scheme: .ownCloud)
  /// Dropbox.
  public static let dropbox = ConflictCopyEngine(scheme: .dropbox)
  /// Seafile.
  public static let seafile = ConflictCopyEngine(scheme: .seafile)
  /// `rclone bisync` without the option `--conflict-suffix`.
  ///
  /// Only with a `--conflict-resolve` that finds a winner does one of the files keep its name. Otherwise both are renamed, and neither
  /// is a copy of a file that's there.
  public static let rclone = ConflictCopyEngine(scheme: .rclone(suffix: nil))

  /// `rclone bisync` with the option `--conflict-suffix`.
  ///
  /// - Parameter conflictSuffix: One of the suffixes that the option states, such as `laptop`. Variables for dates aren't understood.
  /// - Returns: The engine.
  public static func rclone(conflictSuffix: String) -> ConflictCopyEngine {
    ConflictCopyEngine(scheme: .rclone(suffix: conflictSuffix))
  }

  /// The name of the program.
  public var description: String {
    switch scheme {
    case .syncthing: "Syncthing"
    case .nextcloud: "Nextcloud"
    case .ownCloud: "ownCloud"
    case .dropbox: "Dropbox"
    case .seafile: "Seafile"
    case .rclone: "rclone"
    }
  }

  /// Of several engines that have given a name, the first one is reported.
  var rank: String {
    switch scheme {
    case .syncthing: "0"
    case .nextcloud: "1"
    case .ownCloud: "2"
    case .dropbox: "3"
    case .seafile: "4"
    case .rclone(nil): "5"
    case .rclone(let suffix?): "6 \(suffix)"
    }
  }
}

extension Set<ConflictCopyEngine> {
  /// All engines, rclone without a suffix of its own.
  public static var all: Set<ConflictCopyEngine> { [.syncthing, .nextcloud, .ownCloud, .dropbox, .seafile, .rclone] }

  var inOrder: [ConflictCopyEngine] { sorted { $0.rank < $1.rank } }
}
