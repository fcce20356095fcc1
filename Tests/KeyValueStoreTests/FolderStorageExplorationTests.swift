import KeyValueReplicas
import SeededRandom
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

/// The real files, and processes that end at each call, or stand still there while others go on.
@Suite("A folder that devices share, and processes that end", .blocking)
struct FolderStorageExplorationTests {
  /// A process as far as the disk can tell: from a call on none is made.
  private static func dying(atCall number: Int) -> ScriptedFileSystem {
    ScriptedFileSystem { call in
      if call.number < number { return call.call == .synchronize ? .skip : .proceed }
      return call.call == .close ? .proceed : .fail(5)
    }
  }

  /// A process that doesn't wait for the disk.
  private static let hasty = ScriptedFileSystem { $0.call == .synchronize ? .skip : .proceed }

  private static func values(_ number: Int) -> [String: StoredValue?] {
    ["a": .integer(Int64(number)), "b": .integer(Int64(number)), "k\(number)": .boolean(true)]
  }

  @Test(
    "CE-09: A process may end at any call: all acknowledged changes are there, and the last one whole or not at all",
    arguments: [true, false])
  func eachCall(hasUnnamedFiles: Bool) throws {
    var (number, endedCount) = (1, 0)
    while true {
      let sandbox = try FolderSandbox()
      let dying = Self.dying(atCall: number)
      let door = ScriptedFileSystem(dying) { call in
        let isUnnamed = call.call == .link && call.paths.first?.description.hasPrefix("/proc/") ?? false
        return isUnnamed && !hasUnnamedFiles ? .fail(2) : .proceed
      }
      let contents = sandbox.contents(1, files: door)
      var (acknowledged, isUncertain, hasFailed) = (0, false, false)
      do throws(SharedStorageFailure) {
        for upload in 1...6 {
          switch try contents.write(Self.values(upload), upload: upload) {
          case .applied: acknowledged = upload
          case .outdated, .overQuota, .tooLarge: Issue.record("nobody else writes")
          case .unknown:
            isUncertain = true
            throw SharedStorageFailure(.unreachable, "it has ended")
          }
        }
      } catch { hasFailed = true }
      if hasFailed { endedCount += 1 }
      let other = sandbox.contents(2, files: Self.hasty)
      let all = try other.readAll()
      let count = Int(all.revision)
      #expect(count == acknowledged || isUncertain && count == acknowledged + 1, "call \(number)")
      let expected = (0...count).reduce(into: [String: StoredValue]()) { values, upload in
        if upload > 0 { for (key, value) in Self.values(upload) { values[key] = value } }
      }
      #expect(try other.values() == expected, "call \(number)")
      // The next process of the device learns what has become of the last one.
      let next = sandbox.contents(1, files: Self.hasty)
      #expect(try next.readAll().acknowledgement?.upload ?? 0 == count, "call \(number)")
      for upload in count + 1...count + 4 {
        #expect(try next.write(Self.values(upload), upload: upload) == .applied(revision: Int64(upload)))
      }
      #expect(try other.readAll().revision == Int64(count + 4))
      // Nothing stays behind that ended processes have left.
      #expect(sandbox.names.allSatisfy { !$0.hasPrefix(".") }, "call \(number): \(sandbox.names)")
      #expect(sandbox.names.count { $0.hasPrefix("values-") } == 1)
      if dying.log.count < number { break }
      number += 1
    }
    #expect(endedCount > 80, "\(endedCount) of \(number - 1)")
    print("ended at \(endedCount) calls")
  }

  @Test(
    "CE-07, CE-08: Devices that stand still anywhere have one history, and readers have each change once or are told of a gap",
    arguments: Budget.seeds(normal: 40, long: 600, complete: 3_000))
  func random(seed: UInt64) throws {
    let run = FolderRun(seed: seed, try FolderSandbox())
    try run.perform()
    #expect(run.problem == nil, "seed \(seed): \(run.problem ?? "")")
  }
}
