internal import SystemInterface

/// The directories of stores on the disk.
///
///     $XDG_DATA_HOME/key-values/ACCOUNT/STORE/journal    all values, and what isn't uploaded yet
///                                            /syncing    locked by the process that uploads for all
///
/// Only the user may use them. Without an account, values are those of `-local`, which no account can be named.
struct StorePlace: Hashable, Sendable {
  static let localAccount = "-local"
  private static let nameLengthMax = 120

  /// The directory around the accounts; that of the user unless stated.
  let home: SystemPath?
  let account: String?
  let store: String

  init(home: SystemPath?, account: String?, store: String) throws(KeyValueStoreError) {
    try Self.check(store, "a store")
    if let account { try Self.check(account, "an account") }
    (self.home, self.account, self.store) = (home, account, store)
  }

  private static func check(_ name: String, _ what: String) throws(KeyValueStoreError) {
    let isPlain = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "/" }
    if name.isEmpty || name.utf8.count > nameLengthMax || !isPlain || name.hasPrefix(".") || name.hasPrefix("-") {
      throw KeyValueStoreError(
        .invalidName,
        "'\(name.prefix(60))' can't be the name of \(what): it needs 1 to \(nameLengthMax) bytes without slashes or control characters, and may not begin with a dot or hyphen"
      )
    }
  }

  /// The directory of the store, which is made if it isn't there.
  func directory() throws(SystemError) -> SystemPath {
    let owners: Set<UInt32> = [HostUser.effectiveUserID]
    let top: SystemPath
    if let home {
      try DataHome.ensureDirectory(home.parent)
      try Self.makeHome(home, owners)
      top = home
    } else {
      top = try DataHome.privateDirectory("key-values")
    }
    var directory = top
    for name in [account ?? Self.localAccount, store] {
      directory = directory.appending(SystemPath(name))
      try RuntimeDirectory.makePrivate(directory, owners: owners)
    }
    return directory
  }

  /// Makes the directory around the accounts, unless it's there.
  ///
  /// One that's there keeps its permissions: others may have files in it. But nobody else may put something else in the place of the accounts'
  /// directories.
  private static func makeHome(_ home: SystemPath, _ owners: Set<UInt32>) throws(SystemError) {
    let files = HostFileSystem()
    do throws(SystemError) {
      try files.makeDirectory(home, at: .workingDirectory, mode: 0o700)
    } catch {
      guard error.number == .fileExists else { throw error }
    }
    let status = try files.withDescriptor(home, flags: .directory) { (directory) throws(SystemError) in
      try files.status(of: directory)
    }
    let isOfOthers = !owners.union([0]).contains(status.owner)
    if isOfOthers || status.mode & 0o022 != 0 && status.mode & 0o1000 == 0 {
      throw SystemError(
        call: "fstat(2)", paths: [home], errno: SystemError.Number.notPermitted.rawValue,
        advice: isOfOthers
          ? "The directory of the stores belongs to another user. Choose one of this user."
          : "Other users may write to the directory of the stores. Take that back with chmod go-w, or choose another one."
      )
    }
  }
}
