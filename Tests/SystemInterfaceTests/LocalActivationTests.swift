import Glibc
import Testing

@testable import SystemInterface

@Suite("The sockets of a service manager are taken when they are meant for this process")
struct LocalActivationTests {
  private func descriptors(_ process: String?, _ count: String?) -> [Int32] {
    ActivationSockets.descriptors(
      environment: { ["LISTEN_PID": process, "LISTEN_FDS": count][$0] ?? nil }, processIdentifier: 42)
  }

  @Test("They start at 3")
  func count() {
    #expect(descriptors("42", "1") == [3])
    #expect(descriptors("42", "3") == [3, 4, 5])
    #expect(descriptors("42", "2147483647").count == Int(ActivationSockets.countMax))
  }

  @Test(
    "There are none otherwise",
    arguments: [
      (nil, nil), ("42", nil), (nil, "1"), ("43", "1"), ("42", "0"), ("42", "-1"), ("x", "1"), ("42", "one"),
      ("42", "99999999999"), ("", ""),
    ] as [(String?, String?)])
  func none(process: String?, count: String?) {
    #expect(descriptors(process, count) == [])
  }

  @Test("The variables can be removed, so that they aren't passed on")
  func removal() async {
    await #expect(processExitsWith: .success) {
      setenv("LISTEN_PID", "\(getpid())", 1)
      setenv("LISTEN_FDS", "2", 1)
      setenv("LISTEN_FDNAMES", "a:b", 1)
      #expect(ActivationSockets.descriptors() == [3, 4])
      ActivationSockets.removeVariables()
      #expect(ActivationSockets.descriptors() == [])
      #expect(HostEnvironment.value(of: "LISTEN_FDNAMES") == nil)
    }
  }

  @Test("The environment is what the process was given")
  func environment() {
    #expect(HostEnvironment.value(of: "PATH") == getenv("PATH").map { String(cString: $0) })
    #expect(HostEnvironment.value(of: "FILE_COORDINATION_NO_SUCH_VARIABLE") == nil)
    #expect(HostUser.effectiveUserID == geteuid())
  }
}
