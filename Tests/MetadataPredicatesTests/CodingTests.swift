import Foundation
import MetadataPredicates
import Testing

@Suite("Predicates as data")
struct CodingTests {
  @Test("P54: a predicate survives being encoded and decoded")
  func roundTrip() throws {
    for sample in ValidFormats.all {
      let predicate = try MetadataPredicate(format: sample.text, arguments: sample.arguments)
      let data = try JSONEncoder().encode(predicate)
      #expect(try JSONDecoder().decode(MetadataPredicate.self, from: data) == predicate, "\(sample.text)")
    }
  }
}
