import CoordinationService
import Testing

@Suite struct FencingTokenTests {
  @Test("A token of a later epoch is larger than any of an earlier one")
  func epochsComeFirst() {
    #expect(FencingToken(epoch: 1, sequence: .max) < FencingToken(epoch: 2, sequence: 0))
    #expect(FencingToken(epoch: 2, sequence: 1) < FencingToken(epoch: 2, sequence: 2))
  }
}
