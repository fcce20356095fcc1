import CompactContainers
import Glibc
import Testing

@testable import SystemInterface

/// Users other than the owner may do with a copy or a saved file no more than before.
///
/// The kernel's own rule is spelled out here again, and asked about every kind of user: in the old group, in the saver's, in
/// neither, with an entry of an access list.
@Suite("Files stay as private as they were", .enabled(if: getuid() == 0, "needs files of another group"))
struct KeptPermissionsTests {
  static let group: UInt32 = 12345
  static let modes: [UInt32] = [0o600, 0o640, 0o604, 0o644, 0o660, 0o664, 0o666, 0o755, 0o2770, 0o6711]

  /// The operations that carry a file's metadata over.
  enum Way: CaseIterable {
    case save, copy, moveAcross, saveInDirectoryWithList

    func run(_ sandbox: Sandbox, _ door: ScriptedFileSystem) throws -> String {
      switch self {
      case .save, .saveInDirectoryWithList:
        try door.replaceContents(of: sandbox.path("a"), with: [1])
        return "a"
      case .copy:
        try door.copyItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: false)
        return "b"
      case .moveAcross:
        let across = ScriptedFileSystem(door) { $0.isRename(of: "a", to: "b") ? .fail(EXDEV) : .proceed }
        try across.moveItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: false)
        return "b"
      }
    }
  }

  /// The access of a user, by the rule in acl(5); the user isn't the owner.
  private func access(_ sandbox: Sandbox, _ name: String, user: UInt32, groups: [UInt32]) throws -> UInt32 {
    let status = try #require(try sandbox.status(name))
    let list = try? sandbox.withFile(name) { (file) throws(SystemError) in
      try sandbox.files.extendedAttribute(.accessList, of: file)
    }
    guard let list = list.flatMap({ AccessList($0) }) else {
      return groups.contains(status.group) ? status.mode >> 3 & 7 : status.mode & 7
    }
    let mask = list.entries.first { $0.tag == .mask }.map { UInt32($0.permissions) } ?? 7
    if let entry = list.entries.first(where: { $0.tag == .user && $0.id == user }) {
      return UInt32(entry.permissions) & mask
    }
    let matching = list.entries.filter {
      $0.tag == .owningGroup ? groups.contains(status.group) : $0.tag == .group && groups.contains($0.id)
    }
    if !matching.isEmpty { return matching.reduce(0) { $0 | UInt32($1.permissions) } & mask }
    return list.others
  }

  private func users() -> [(user: UInt32, groups: [UInt32])] {
    [777, 12345].flatMap { user in [[], [Self.group], [0], [0, Self.group]].map { (user, $0) } }
  }

  private func make(_ sandbox: Sandbox, mode: UInt32, list: [UInt8]?) throws {
    try sandbox.write("a", "old")
    try sandbox.withFile("a") { (file) throws(SystemError) in
      try sandbox.files.setOwner(of: file, to: 4711, group: Self.group)
      if let list { try sandbox.files.setExtendedAttribute(.accessList, of: file, to: list) }
      try sandbox.files.setMode(of: file, to: mode)
    }
  }

  @Test(
    "Nobody may do more afterwards, whatever of owner, group and access list is refused", arguments: modes, Way.allCases
  )
  func nobodyMayMore(mode: UInt32, way: Way) async throws {
    for refusal in Refusal.allCases {
      for list in [nil, [UInt8].accessList, .accessListThatShutsOut, .accessListForGroup] {
        try await withTemporaryDirectory { sandbox in
          try make(sandbox, mode: mode, list: list)
          if way == .saveInDirectoryWithList {
            try sandbox.withFile(".") { (directory) throws(SystemError) in
              try sandbox.files.setExtendedAttribute(.defaultAccessList, of: directory, to: [UInt8].accessList)
            }
          }
          let before = try users().map { try access(sandbox, "a", user: $0.user, groups: $0.groups) }
          let old = try #require(try sandbox.status("a"))
          let name = try way.run(sandbox, refusal.door)
          let after = try users().map { try access(sandbox, name, user: $0.user, groups: $0.groups) }
          for (index, user) in users().enumerated() {
            #expect(
              after[index] & ~before[index] == 0,
              "\(refusal) \(list == nil ? "no list" : "list"): \(user) may \(after[index]), might \(before[index])")
          }
          let new = try #require(try sandbox.status(name))
          #expect(new.mode & 0o700 == old.mode & 0o700)
          if refusal == .nothing { #expect(new.mode == old.mode && new.owner == 4711 && new.group == Self.group) }
        }
      }
    }
  }

  @Test("A file for a group of which the saver isn't a member is for its owner alone afterwards")
  func lostGroup() async throws {
    try await withTemporaryDirectory { sandbox in
      try make(sandbox, mode: 0o640, list: nil)
      try Refusal.owner.door.replaceContents(of: sandbox.path("a"), with: [1])
      #expect(try sandbox.status("a")?.mode == 0o600)
    }
  }

  @Test("The group is kept where only the owner can't be")
  func keptGroup() async throws {
    try await withTemporaryDirectory { sandbox in
      try make(sandbox, mode: 0o2660, list: nil)
      try Refusal.userOnly.door.replaceContents(of: sandbox.path("a"), with: [1])
      let status = try #require(try sandbox.status("a"))
      #expect(status.mode == 0o660 && status.group == Self.group && status.owner == 0)
    }
  }

  @Test("A FIFO is copied with its owner and mode, or narrower", arguments: [Refusal.nothing, .owner])
  func specialFile(refusal: Refusal) async throws {
    try await withTemporaryDirectory { sandbox in
      mkfifo(sandbox.path("a").description, 0o600)
      chown(sandbox.path("a").description, 4711, Self.group)
      chmod(sandbox.path("a").description, 0o660)
      try refusal.door.copyItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: false)
      let status = try #require(try sandbox.status("b"))
      #expect(status.kind == .fifo)
      #expect(status.mode == (refusal == .nothing ? 0o660 : 0o600))
      #expect(status.group == (refusal == .nothing ? Self.group : 0))
    }
  }
}

/// Changes that a kernel refuses to users other than root, or can't keep.
enum Refusal: CaseIterable {
  case nothing
  /// Another owner, but not a group.
  case userOnly
  /// Any owner and group.
  case owner
  /// Some file systems take chown(2) and change nothing.
  case ownerInSilence
  case accessList
  case everything

  var door: ScriptedFileSystem {
    ScriptedFileSystem { call in
      switch call.argument {
      case .owner(let user, _):
        switch self {
        case .nothing, .accessList: .proceed
        case .userOnly: user == .max ? .proceed : .fail(EPERM)
        case .owner, .everything: .fail(EPERM)
        case .ownerInSilence: .skip
        }
      case .attribute(let name):
        call.call == .setAttribute && name == .accessList && [.accessList, .everything].contains(self)
          ? .fail(EOPNOTSUPP) : .proceed
      case nil: .proceed
      }
    }
  }
}

extension [UInt8] {
  /// `user::rw-, user:777:---, user:12345:rw-, group::r--, mask::rw-, other::r--`: one user is shut out by name.
  static let accessListThatShutsOut = list([
    (1, 6, nil), (2, 0, 777), (2, 6, 12345), (4, 4, nil), (16, 6, nil), (32, 4, nil),
  ])
  /// `user::rw-, group::r--, group:0:rw-, mask::rw-, other::---`: the saver's own group has an entry.
  static let accessListForGroup = list([(1, 6, nil), (4, 4, nil), (8, 6, 0), (16, 6, nil), (32, 0, nil)])

  private static func list(_ entries: [(tag: UInt16, permissions: UInt16, id: UInt32?)]) -> [UInt8] {
    entries.reduce(into: [2, 0, 0, 0]) { bytes, entry in
      bytes.append(littleEndian: entry.tag)
      bytes.append(littleEndian: entry.permissions)
      bytes.append(littleEndian: entry.id ?? .max)
    }
  }
}
