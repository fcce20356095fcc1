import Foundation
import TestSupport
import Testing

@testable import filecoord

@Suite("The doctor of the command-line tool", .blocking)
struct DoctorTests {
  private let bench: Workbench

  init() throws { bench = try Workbench() }

  @Test("All is well at a meeting place of one's own, and nothing is left of the check")
  func health() throws {
    let result = try bench.run("doctor")
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("ok     domain: \(bench.domain), named by FILE_COORDINATION_DOMAIN\n"))
    #expect(result.output.contains("ok     reachable: one access took "))
    #expect(!result.output.contains("wrong"))
    #expect(try bench.scratch.contents.sorted() == ["domain", "files"])
  }

  @Test(
    "A /tmp is private where a service manager made it so, not where it's a subvolume or mounted for all",
    arguments: [
      ("", false),
      ("29 1 0:26 / /tmp rw,nosuid,nodev shared:12 - tmpfs tmpfs rw", false),
      ("29 1 0:26 /@tmp /tmp rw,relatime shared:12 - btrfs /dev/vda1 rw,subvol=/@tmp", false),
      ("29 1 8:1 /var/scratch /tmp rw,relatime shared:12 - ext4 /dev/sda1 rw", false),
      ("29 1 8:1 /tmp/systemd-private-0a-b.service-c/tmp /tmp rw master:12 - ext4 /dev/sda1 rw", true),
      ("29 1 8:1 /systemd-private-0a-b.service-c/tmp /tmp rw - tmpfs t rw\n30 29 0:9 / /tmp rw - tmpfs t rw", false),
    ])
  func privateDirectory(mounts: String, isPrivate: Bool) {
    #expect(ForeignRoom.isPrivate(mounts: mounts) == isPrivate)
  }

  @Test(
    "It's noted that no directory can be watched, although the limits are high", arguments: ["watches", "instances"])
  func exhausted(limit: String) throws {
    #expect(try bench.run("doctor").output.contains("ok     a directory can be watched\n"))
    // The limit of a user in a namespace of its own, where that's allowed.
    let limited = "unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_inotify_\(limit) && exec \"$@\"' -"
    if try bench.startScript(limited + " true").end() != 0 { return }
    let doctor = try bench.startScript(limited + " \"$FILECOORD\" doctor")
    #expect(try doctor.output.line { $0.contains("of inotify(7) is left") }.hasPrefix("note "))
    #expect(try doctor.end() == 0)
  }

  @Test("The option is stronger than the variable")
  func option() throws {
    let socket = "socket:" + bench.scratch.url.appending(path: "domain/other").path
    let result = try bench.run("doctor", "--domain", socket)
    #expect(result.status == 0)
    #expect(result.output.contains("domain: \(socket), named by --domain\n"))
  }

  @Test("A meeting place that isn't there is wrong, and it's said what to do")
  func missingPlace() throws {
    let result = try bench.run("doctor", "--domain", "socket:/nowhere/at/all")
    #expect(result.status == 1)
    #expect(result.output.contains("wrong  no access\n       what to do: "))
    #expect(result.output.contains("wrong  directory /nowhere/at: No such file or directory\n"))
  }

  @Test("A meeting place that others can write is wrong")
  func openPlace() throws {
    let directory = bench.scratch.url.appending(path: "domain").path
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: directory)
    let result = try bench.run("doctor")
    #expect(result.status == 1)
    #expect(result.output.contains("wrong  directory \(directory) can be written by others (mode 777)\n"))
  }

  @Test("A domain of one process is worth a note")
  func singleProcess() throws {
    let result = try bench.run("doctor", "--domain", "process")
    #expect(result.status == 0)
    #expect(result.output.contains("note   this domain is one process only"))
  }

  @Test(
    "A domain that can't be reached ends every command with 69",
    arguments: [
      ["tree"], ["explain", "/a"], ["write", "/nowhere/a", "--", "true"], ["watch", "/a"], ["delete", "/a"],
    ])
  func unreachable(arguments: [String]) throws {
    let result = try Tool.run(arguments, environment: ["FILE_COORDINATION_DOMAIN": "socket:/nowhere/at/all"])
    #expect(result.status == 69)
    #expect(result.errors.contains("/nowhere/at/all"))
  }
}
