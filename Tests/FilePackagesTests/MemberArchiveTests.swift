import FilePackages
import SeededRandom
import Testing

@Suite("Archives of members")
struct MemberArchiveTests {
  private func random(_ random: inout SplitMix, depth: Int) -> MemberArchive {
    let mode = UInt32(random.below(0o10000))
    switch random.below(depth > 3 ? 2 : 4) {
    case 0: return .file((0..<random.below(40)).map { _ in UInt8(random.below(256)) }, mode: mode)
    case 1: return .symbolicLink(target: Array("../\(random.below(100))".utf8), mode: mode)
    default:
      var entries: [[UInt8]: MemberArchive.Entry] = [:]
      for _ in 0..<random.below(5) {
        let name = Array("n\(random.below(1_000))".utf8)
        let preferred = random.chance(1, in: 3) ? Array("wish".utf8) : name
        entries[name] = MemberArchive.Entry(
          name: name, preferredName: preferred, member: self.random(&random, depth: depth + 1))
      }
      let sorted = entries.values.sorted { $0.name.lexicographicallyPrecedes($1.name) }
      return .directory(sorted, mode: mode)
    }
  }

  @Test(
    "FW-10: An archive gives back the tree, and equal trees have equal archives",
    arguments: Budget.seeds(normal: 200, long: 4_000))
  func roundTrip(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let tree = self.random(&random, depth: 0)
    #expect(try MemberArchive(bytes: tree.bytes) == tree)
    if case .directory(let entries, let mode) = tree {
      #expect(MemberArchive.directory(entries.reversed(), mode: mode).bytes == tree.bytes)
    }
  }

  @Test(
    "FW-10: Altered archives are refused, or are the archives of other trees",
    arguments: Budget.seeds(normal: 300, long: 4_000))
  func damage(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var bytes = self.random(&random, depth: 0).bytes
    for _ in 0...random.below(3) {
      switch random.below(3) {
      case 0: bytes[random.below(bytes.count)] = UInt8(random.below(256))
      case 1: bytes.insert(UInt8(random.below(256)), at: random.below(bytes.count + 1))
      default: bytes.remove(at: random.below(bytes.count))
      }
    }
    do throws(PackageError) {
      let tree = try MemberArchive(bytes: bytes)
      #expect(tree.bytes == bytes)
    } catch {
      #expect(error.code == .corruptArchive || error.code == .tooDeep)
    }
  }

  @Test("FW-10: Sizes that aren't there, and depths beyond the limit, take no memory")
  func bombs() {
    let beginning = Array("FCPK".utf8) + [1]
    let huge = beginning + [0, 0, 0, 1, 0xa4] + [UInt8](repeating: 0xff, count: 8)
    #expect(throws: PackageError(.corruptArchive)) { try MemberArchive(bytes: huge) }
    let many = beginning + [1, 0, 0, 1, 0xed] + [UInt8](repeating: 0xff, count: 4)
    #expect(throws: PackageError(.corruptArchive)) { try MemberArchive(bytes: many) }
    func nested(_ depth: Int) -> MemberArchive {
      (0..<depth).reduce(MemberArchive.file([], mode: 0)) { inner, _ in
        .directory([MemberArchive.Entry(name: [100], preferredName: [100], member: inner)], mode: 0)
      }
    }
    #expect(throws: Never.self) { try MemberArchive(bytes: nested(PackageTree.depthMax).bytes) }
    #expect(throws: PackageError(.tooDeep)) { try MemberArchive(bytes: nested(PackageTree.depthMax + 1).bytes) }
  }
}
