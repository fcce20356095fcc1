import Testing

@testable import FileAccessArbiter
@testable import FileCoordination

@Suite("The explanation of a deadlock")
struct DeadlockReportTests {
  private func report(of count: Int) -> DeadlockReport {
    DeadlockReport(
      (1...count).map { number in
        .access(
          AccessSummary(
            id: AccessID(UInt64(number)), client: ClientID(1), clientName: "pid 1 'test'", label: "member \(number)",
            items: [], isPreparation: false, phase: .waiting, since: 0))
      }, at: 1_000_000)
  }

  @Test("Names every member of a cycle of usual length", arguments: [2, 17])
  func whole(count: Int) {
    let lines = report(of: count).description.split(separator: "\n")
    #expect(lines.count == count + 2)
    for number in 1...count { #expect(lines[number].hasPrefix("  \(number). 'member \(number)'")) }
    #expect(lines[count].hasSuffix("waiting for 1."))
  }

  @Test("Names the beginning and the end of a long cycle, and how many are in between")
  func long() {
    let report = report(of: 1_000)
    let lines = report.description.split(separator: "\n")
    #expect(lines.count == 12 + 1 + 4 + 2)
    #expect(lines[12].hasPrefix("  12. 'member 12'"))
    #expect(lines[13] == "  … 984 more …")
    #expect(lines[14].hasPrefix("  997. 'member 997'"))
    #expect(lines[17].hasPrefix("  1000. 'member 1000'"))
    #expect(report.members.count == 1_000)
  }

  /// Another process receives the names of the first twelve and the last four.
  @Test("Counts the members that another process hasn't named", arguments: [1, 984])
  func abridged(omittedCount: Int) {
    let whole = report(of: 16 + omittedCount)
    let told = DeadlockReport(whole.waits.naming(first: 12, last: 4), at: 1_000_000)
    #expect(told.members.count == 16)
    #expect(told.omittedMemberCount == omittedCount)
    if omittedCount > 1 { #expect(told.description == whole.description) }
    let lines = told.description.split(separator: "\n")
    #expect(lines.count == 12 + 1 + 4 + 2)
    #expect(lines[13] == "  … \(omittedCount) more …")
    #expect(lines[17].hasPrefix("  \(16 + omittedCount). 'member \(16 + omittedCount)'"))
  }

  @Test("Names as many as may be named, and adds up those that were left out before")
  func naming() {
    let members = report(of: 20).waits
    #expect(members.naming(first: 20) == members)
    #expect(members.naming(first: 15, last: 5) == members)
    let once = members.naming(first: 10)
    #expect(once == members.prefix(10) + [.others(10)])
    #expect(once.naming(first: 10) == once)
    #expect(once.naming(first: 3) == members.prefix(3) + [.others(17)])
    #expect([WaitMember]().naming(first: 0).isEmpty)
  }
}
