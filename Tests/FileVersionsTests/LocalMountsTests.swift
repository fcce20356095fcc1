import SystemInterface
import Testing

@testable import FileVersions

@Suite("The volumes on which stores are looked for")
struct LocalMountsTests {
  private static func paths(_ table: String) -> [String] {
    LocalMounts(MountTable.mounts(in: Array(table.utf8))).paths.map(\.description)
  }

  private static let table = """
    20 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw
    21 20 0:20 / /proc rw - proc proc rw
    22 20 0:5 / /dev rw - devtmpfs udev rw
    23 22 0:24 / /dev/shm rw - tmpfs tmpfs rw
    30 20 8:17 / /mnt/disk rw - xfs /dev/sdb1 rw
    31 20 0:40 / /mnt/pool rw - btrfs /dev/sdc rw
    32 20 0:41 / /mnt/nfs rw - nfs4 server:/ rw
    33 32 8:33 / /mnt/nfs/inside rw - ext4 /dev/sdd1 rw
    34 20 0:42 / /mnt/bind rw - fuse bindfs rw
    35 20 0:43 / /mnt/ssh rw - fuse.sshfs host: rw
    36 20 8:49 / /mnt/stick rw - fuseblk /dev/sde1 rw
    37 20 0:44 / /mnt/auto rw - autofs systemd-1 rw
    38 37 8:65 / /mnt/auto rw - ext4 /dev/sdf1 rw
    39 20 0:45 / /mnt/lazy rw - autofs systemd-1 rw
    40 39 8:81 / /mnt/lazy/made rw - ext4 /dev/sdg1 rw
    41 20 8:97 / /mnt/hidden rw - ext4 /dev/sdh1 rw
    42 41 0:46 / /mnt/hidden rw - cifs //server/share rw
    43 20 0:47 / /mnt/unknown rw - newfs host rw
    44 20 8:113 / /mnt/cluster rw - gfs2 /dev/sdi1 rw
    45 20 8:129 / /mnt/nfsdisk rw - ext4 /dev/sdj1 rw

    """

  @Test(
    "Those of the network, of programs, of automounters and of the kernel aren't, nor what is mounted inside of the former"
  )
  func chosen() {
    #expect(
      Self.paths(Self.table) == [
        "/", "/dev/shm", "/mnt/disk", "/mnt/pool", "/mnt/auto", "/mnt/lazy/made", "/mnt/nfsdisk",
      ])
  }

  @Test("A noted store is asked for unless the way to it leads through a volume that may not answer")
  func nested() {
    let mounts = LocalMounts(MountTable.mounts(in: Array(Self.table.utf8)))
    func answer(_ path: String) -> Bool { mounts.answer(at: SystemPath(path)) }
    #expect(
      answer("/home/me/sub/.file-versions-0") && answer("/mnt/pool/sub/.file-versions-0") && answer("/mnt/nfsdisk/x"))
    #expect(!answer("/mnt/nfs/sub/.file-versions-0") && !answer("/mnt/nfs/inside/x") && !answer("/mnt/bind/x"))
  }

  @Test("If the root is of another machine, local volumes inside of it are searched all the same")
  func networkRoot() {
    let table = "20 1 0:20 / / rw - nfs server:/ rw\n21 20 8:1 / /data rw - ext4 /dev/sda1 rw\n"
    #expect(Self.paths(table) == ["/data"])
    #expect(Self.paths("") == [])
  }

  @Test("No system call names a path on a volume that may not answer")
  func calls() throws {
    let door = ScriptedFileSystem { _ in .fail(2) }
    let directories = try VersionStorage.standardDirectories(
      named: "file-versions", mounts: MountTable.mounts(in: Array(Self.table.utf8)), files: door)
    #expect(directories.count == 1)
    let silent = ["nfs", "bind", "ssh", "stick", "lazy", "hidden", "unknown", "cluster"].map {
      SystemPath("/mnt/\($0)")
    }
    let called = door.log.flatMap(\.paths)
    #expect(called.count == 7)
    let made = SystemPath("/mnt/lazy/made")
    for path in called where !path.isInside(made) {
      #expect(!silent.contains { path == $0 || path.isInside($0) }, "\(path)")
    }
  }
}
