import Testing

@testable import FileAccessArbiter

/// Two accesses, the second requested while the first is granted.
struct Pair: Sendable, CustomTestStringConvertible {
  let first: AccessRequest.Item
  let second: AccessRequest.Item
  let waits: Bool

  init(_ first: ItemAccess, _ here: ItemPath, _ second: ItemAccess, _ there: ItemPath, waits: Bool) {
    self.first = .init(here, first)
    self.second = .init(there, second)
    self.waits = waits
  }

  var testDescription: String {
    "\(second.access) \(second.path) \(waits ? "waits for" : "passes") \(first.access) \(first.path)"
  }

  func check() {
    let harness = ArbiterHarness()
    let holder = harness.request([first])
    let other = harness.request([second])
    #expect(harness.isGranted(holder))
    #expect(harness.isWaiting(other) == waits)
    harness.release(holder)
    #expect(harness.isGranted(other))
    harness.finish()
  }
}

@Suite("Blocking")
struct BlockingTests {
  @Test("C-001: Two reads of /d/f overlap")
  func readsOverlap() { Pair(.read, "/d/f", .read, "/d/f", waits: false).check() }

  @Test("C-002: A write of /d/f waits for every running read of /d/f", arguments: ItemAccess.writes)
  func writeWaitsForReads(write: ItemAccess) {
    // reader A  [----]
    // reader B  [--------]
    // writer    w········[--]
    let harness = ArbiterHarness()
    let readers = [harness.read("/d/f"), harness.read("/d/f")]
    let writer = harness.request([.init("/d/f", write)])
    harness.release(readers[0])
    #expect(harness.isWaiting(writer))
    harness.release(readers[1])
    #expect(harness.isGranted(writer))
    harness.finish()
  }

  @Test("C-003: A read of /d/f waits for a running write of /d/f", arguments: ItemAccess.writes)
  func readWaitsForWrite(write: ItemAccess) { Pair(write, "/d/f", .read, "/d/f", waits: true).check() }

  @Test("C-004: Two writes of /d/f never overlap", arguments: ItemAccess.writes, ItemAccess.writes)
  func writesNeverOverlap(first: ItemAccess, second: ItemAccess) {
    Pair(first, "/d/f", second, "/d/f", waits: true).check()
  }

  @Test("C-005: Accesses of /d/f and /d/g never wait for each other", arguments: ItemAccess.writes, ItemAccess.writes)
  func siblingsAreFree(first: ItemAccess, second: ItemAccess) {
    Pair(first, "/d/f", second, "/d/g", waits: false).check()
    Pair(first, "/d/f", second, "/d/ff", waits: false).check()
    Pair(first, "/d/ff", second, "/d/f", waits: false).check()
  }

  @Test(
    "C-006, C-007, C-008, C-009: A package is the unit, the outermost one when they are nested",
    arguments: [
      Pair(.read, "/k.pkg/b", .update, "/k.pkg/a", waits: true),
      Pair(.read, "/k.pkg/b", .read, "/k.pkg/a", waits: false),
      Pair(.update, "/k.pkg/x/y", .update, "/k.pkg", waits: true),
      Pair(.update, "/k.pkg", .update, "/k.pkg/x/y", waits: true),
      Pair(.read, "/k.pkg/x/y", .update, "/k.pkg", waits: true),
      Pair(.update, "/outer.pkg/b", .update, "/outer.pkg/inner.pkg/a", waits: true),
      Pair(.update, "/outer.pkg/inner.pkg/a", .update, "/outer.pkg/b", waits: true),
      Pair(.update, "/outer.pkg/inner.pkg/a", .read, "/outer.pkg/inner.pkg/a", waits: true),
      Pair(.update, "/d/a.pkg/f", .update, "/d/b.pkg/f", waits: false),
      Pair(.update, "/.pkg/a", .update, "/.pkg/b", waits: false),
    ])
  func packages(pair: Pair) { pair.check() }

  @Test("C-010, C-011: A read of plain d and accesses of d/f ignore each other", arguments: ItemAccess.writes + [.read])
  func readOfDirectory(inner: ItemAccess) {
    Pair(inner, "/d/f", .read, "/d", waits: false).check()
    Pair(.read, "/d", inner, "/d/f", waits: false).check()
    Pair(inner, "/d/x/y/f", .read, "/d", waits: false).check()
  }

  @Test(
    "C-012, C-018: A plain write of d and accesses below d ignore each other",
    arguments: ItemAccess.plainWrites, ItemAccess.writes + [.read])
  func plainWriteOfDirectory(outer: ItemAccess, inner: ItemAccess) {
    Pair(inner, "/d/f", outer, "/d", waits: false).check()
    Pair(outer, "/d", inner, "/d/f", waits: false).check()
  }

  @Test(
    "C-013, C-014, C-015: A deep write of d waits for every access below d",
    arguments: ItemAccess.deepWrites, ItemAccess.writes + [.read])
  func deepWriteWaits(outer: ItemAccess, inner: ItemAccess) {
    Pair(inner, "/d/x/f", outer, "/d", waits: true).check()
    Pair(inner, "/d/k.pkg/f", outer, "/d", waits: true).check()
    Pair(inner, "/e/x/f", outer, "/d", waits: false).check()
    Pair(inner, "/d/f", outer, "/", waits: true).check()
  }

  @Test("C-016: While a deep write of d is granted, a later access below d waits", arguments: ItemAccess.deepWrites)
  func deepWriteBlocks(outer: ItemAccess) {
    Pair(outer, "/d", .read, "/d/f", waits: true).check()
    Pair(outer, "/d", .update, "/d/x/y/f", waits: true).check()
    Pair(outer, "/d", .read, "/", waits: false).check()
  }

  @Test("C-016: While a .forMoving write of d is queued, a later read of d/f waits")
  func queuedDeepWriteBlocks() {
    // reader of d/g  [------]
    // mover of d       w····[---]
    // reader of d/f      w······[--]
    let harness = ArbiterHarness()
    let holder = harness.read("/d/g")
    let mover = harness.write("/d", .moving)
    let reader = harness.read("/d/f")
    #expect(harness.isWaiting(mover) && harness.isWaiting(reader))
    harness.release(holder)
    #expect(harness.isGranted(mover) && harness.isWaiting(reader))
    harness.release(mover)
    #expect(harness.isGranted(reader))
    harness.finish()
  }

  @Test("C-017: .forMoving on a plain file blocks like an option-less write")
  func movingAFile() {
    Pair(.read, "/d/f", .write(.moving), "/d/f", waits: true).check()
    Pair(.write(.moving), "/d/f", .read, "/d", waits: false).check()
    Pair(.update, "/d", .write(.moving), "/d/f", waits: false).check()
  }

  @Test("C-019, C-020: Conflicting accesses are granted in order of request, neighbouring readers together")
  func orderOfRequest() {
    // writer 1  [--]
    // reader 2    w[----]
    // reader 3    w[--]
    // writer 4     w·····[--]
    // reader 5      w·······[--]
    let harness = ArbiterHarness()
    let one = harness.write("/d/f")
    let two = harness.read("/d/f")
    let three = harness.read("/d/f")
    let four = harness.write("/d/f")
    let five = harness.read("/d/f")
    harness.release(one)
    #expect(harness.isGranted(two) && harness.isGranted(three) && harness.isWaiting(four) && harness.isWaiting(five))
    harness.release(two)
    #expect(harness.isWaiting(four))
    harness.release(three)
    #expect(harness.isGranted(four) && harness.isWaiting(five))
    harness.release(four)
    #expect(harness.isGranted(five))
    harness.finish()
  }

  @Test("C-021: A claim protects a path, whether or not anything is there")
  func pathsNeedNotExist() { Pair(.update, "/nowhere/new", .read, "/nowhere/new", waits: true).check() }

  @Test("C-023: Items of one request are granted together and never block one another")
  func itemsOfOneRequest() {
    let harness = ArbiterHarness()
    let all = harness.request([
      .init("/d", .write(.deleting)), .init("/d/f", .read), .init("/d/f", .update), .init("/d", .read),
    ])
    #expect(harness.isGranted(all))
    let other = harness.request([.init("/e", .update), .init("/d/g", .read)])
    #expect(harness.isWaiting(other))
    #expect(harness.isGranted(harness.read("/e")) == false, "the other holds its place in every queue")
    harness.release(all)
    #expect(harness.isGranted(other))
    harness.finish()
  }

  @Test(
    "C-024, C-025, C-153: Requests with swapped items don't deadlock",
    arguments: [ItemAccess.read, .update], [ItemAccess.read, .update])
  func swappedItems(left: ItemAccess, right: ItemAccess) {
    let harness = ArbiterHarness()
    let first = harness.request([.init("/d/f", .update), .init("/d/g", left)])
    let second = harness.request([.init("/d/g", .update), .init("/d/f", right)], client: 2)
    #expect(harness.isGranted(first) && harness.isWaiting(second))
    harness.release(first)
    #expect(harness.isGranted(second))
    harness.finish()
  }

  @Test("C-026: Claims hold across processes", arguments: [UInt64(1), 2])
  func acrossProcesses(client: UInt64) {
    let harness = ArbiterHarness()
    let holder = harness.write("/d/f")
    let other = harness.write("/d/f", client: client)
    #expect(harness.isWaiting(other))
    harness.release(holder)
    #expect(harness.isGranted(other))
    harness.finish()
  }

  @Test("C-027: When a process dies its claims disappear, granted and queued")
  func deadProcess() {
    let harness = ArbiterHarness()
    harness.write("/d/f", client: 2)
    harness.write("/d/f", client: 2)
    let survivor = harness.read("/d/f", client: 3)
    let queued = harness.write("/d/f", client: 2)
    harness.depart(2)
    #expect(harness.isGranted(survivor))
    #expect(harness.world.status[queued] == .gone)
    harness.finish()
  }
}
