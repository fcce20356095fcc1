import FileAccessArbiter
import Foundation
import SeededRandom
import Testing

@testable import FileCoordination

@Suite("The table of presenters")
struct PresenterTableTests {
  private final class Presenter: FilePresenter {
    let presentedItemURL: URL? = nil
    let presentedItemCallbacks: FilePresenterCallbacks = []
  }

  @Test("Finds by number and by address what two dictionaries would find", arguments: [1, 2, 3] as [UInt64])
  func comparison(seed: UInt64) {
    var random = SplitMix(state: seed)
    let presenters = (0..<400).map { _ in Presenter() }
    var table = PresenterTable()
    var byNumber: [PresenterID: PresenterRecord] = [:]
    var byAddress: [ObjectIdentifier: PresenterRecord] = [:]
    var lastNumber: UInt64 = 0
    // It grows, shrinks, and grows again.
    for phase in [70, 20, 60, 5] as [UInt64] {
      for _ in 0..<1_500 {
        let presenter = presenters.randomElement(using: &random) ?? presenters[0]
        if UInt64.random(in: 0..<100, using: &random) < phase {
          lastNumber += 1
          let record = PresenterRecord(PresenterID(lastNumber), presenter, PurposeID(1), executor: nil)
          table.insert(record)
          byNumber[record.id] = record
          byAddress[record.key] = record
        } else if let record = byNumber.values.min(by: { $0.id < $1.id }) {
          table.unregister(record)
          if byAddress[record.key] === record { byAddress[record.key] = nil }
          if UInt64.random(in: 0..<2, using: &random) == 0 {
            #expect(table.forget(record.id) === record)
            byNumber[record.id] = nil
          }
        }
        #expect(table[ObjectIdentifier(presenter)] === byAddress[ObjectIdentifier(presenter)])
        let number = PresenterID(UInt64.random(in: 0...lastNumber + 1, using: &random))
        #expect(table[number] === byNumber[number])
      }
      #expect(table.registered.map(\.id) == byAddress.values.map(\.id).sorted())
      #expect(byNumber.allSatisfy { table[$0.key] === $0.value })
    }
  }

  @Test("Forgets nothing that isn't there")
  func absent() {
    var table = PresenterTable()
    #expect(table.forget(PresenterID(1)) == nil)
    #expect(table[PresenterID(1)] == nil)
    #expect(table.registered.isEmpty)
  }
}
