/// How threads use a lock.
struct Scenario: Sendable, Hashable {
  /// Part of the names of results.
  let id: String
  let title: String
  let threadCount: Int
  /// Whether all threads use one item, or each its own.
  let isShared: Bool
  /// Of 100 operations, so many write.
  let writePercent: Int

  /// A random number below this means to write; pure scenarios compare all the same, so that all pay the same.
  var writeThreshold: UInt64 { (UInt64(1) << 32) * UInt64(writePercent) / 100 }

  static let read = Scenario(
    id: "1-thread-read", title: "1 thread reads", threadCount: 1, isShared: true, writePercent: 0)
  static let write = Scenario(
    id: "1-thread-write", title: "1 thread writes", threadCount: 1, isShared: true, writePercent: 100)
  static let readDifferent = Scenario(
    id: "2-threads-read-different", title: "2 threads read different items", threadCount: 2, isShared: false,
    writePercent: 0)
  static let writeDifferent = Scenario(
    id: "2-threads-write-different", title: "2 threads write different items", threadCount: 2, isShared: false,
    writePercent: 100)
  static let readOne = Scenario(
    id: "2-threads-read-one", title: "2 threads read one item", threadCount: 2, isShared: true, writePercent: 0)
  static let mostlyRead = Scenario(
    id: "2-threads-95-5", title: "2 threads, one item, 95 % reads", threadCount: 2, isShared: true, writePercent: 5)
  static let halfWritten = Scenario(
    id: "2-threads-50-50", title: "2 threads, one item, 50 % reads", threadCount: 2, isShared: true, writePercent: 50)
  static let crowdMostlyRead = Scenario(
    id: "8-threads-95-5", title: "8 threads, one item, 95 % reads", threadCount: 8, isShared: true, writePercent: 5)
  static let crowdHalfWritten = Scenario(
    id: "8-threads-50-50", title: "8 threads, one item, 50 % reads", threadCount: 8, isShared: true, writePercent: 50)

  static let all = [
    read, write, readDifferent, writeDifferent, readOne, mostlyRead, halfWritten, crowdMostlyRead, crowdHalfWritten,
  ]
  static let alone = [read, write]
  static let upToTwoThreads = all.filter { $0.threadCount <= 2 }
}
