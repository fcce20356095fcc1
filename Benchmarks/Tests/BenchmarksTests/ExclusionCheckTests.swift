import Testing
import benchmarks

@Suite("ExclusionCheck")
struct ExclusionCheckTests {
  //  writer A  [----]
  //  writer B         [----]
  //  reader C    the same, or between them
  @Test("Writers and readers one after the other are what a lock allows")
  func turns() {
    let check = ExclusionCheck()
    check.endWriting(check.beginWriting())
    check.read()
    check.endWriting(check.beginWriting())
    #expect(check.violations(writeCount: 2).isEmpty)
  }

  //  writer A  [---------]
  //  reader C     [---]
  @Test("A reader beside a writer is noticed")
  func readerBesideWriter() {
    let check = ExclusionCheck()
    let value = check.beginWriting()
    check.read()
    check.endWriting(value)
    #expect(check.violations(writeCount: 1) == ["1 times somebody was inside beside a writer"])
  }

  //  writer A  [---------]
  //  writer B     [---------]
  @Test("A writer beside a writer is noticed")
  func writerBesideWriter() {
    let check = ExclusionCheck()
    let first = check.beginWriting()
    let second = check.beginWriting()
    check.endWriting(second)
    check.endWriting(first)
    #expect(check.violations(writeCount: 2).contains("1 times somebody was inside beside a writer"))
  }

  @Test("A write that another one overwrote is noticed")
  func lostWrite() {
    let check = ExclusionCheck()
    let value = check.beginWriting()
    check.endWriting(value)
    check.endWriting(value)
    #expect(check.violations(writeCount: 2) == ["1 writes were lost"])
  }
}
