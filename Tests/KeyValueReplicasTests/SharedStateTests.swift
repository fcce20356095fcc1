import Testing

@testable import KeyValueReplicas

@Suite("Everything that a shared folder keeps")
struct SharedStateTests {
  private let one = ReplicaID(rawValue: 1)
  private let two = ReplicaID(rawValue: 2)

  private func upload(
    _ id: Int, after acknowledgement: Int64, _ items: [(String, StoredValue?, Int64)]
  ) -> Upload {
    Upload(
      id: id,
      items: items.map {
        Upload.Item(
          key: $0.0, value: $0.1, time: HybridTime(wall: Int64(id), count: 7, replica: one), expectedRevision: $0.2,
          sequence: id)
      }, expectedAcknowledgement: acknowledgement)
  }

  private func state(_ uploads: [Upload]) throws -> SharedState {
    var state = SharedState()
    for upload in uploads {
      guard case .change(let change) = state.decision(on: upload, of: one, StoreLimits()) else {
        throw SharedFile.Failure.damaged
      }
      state.apply(change)
    }
    return state
  }

  @Test("An upload changes something only if all keys and the acknowledgement are as it expects")
  func expectations() throws {
    let state = try state([upload(1, after: 0, [("a", .integer(1), 0), ("b", nil, 0)])])
    let limits = StoreLimits()
    #expect(state.decision(on: upload(2, after: 0, [("c", nil, 0)]), of: one, limits) == .outdated)
    #expect(state.decision(on: upload(2, after: 1, [("a", nil, 0)]), of: one, limits) == .outdated)
    #expect(state.decision(on: upload(2, after: 1, [("c", nil, 1)]), of: one, limits) == .outdated)
    #expect(state.decision(on: upload(1, after: 1, [("c", nil, 0)]), of: two, limits) == .outdated)
    guard case .change(let change) = state.decision(on: upload(5, after: 0, [("b", .integer(1), 1)]), of: two, limits)
    else {
      Issue.record("it's as it expects")
      return
    }
    #expect(change.revision == 2 && change.owner == two && change.items.map(\.revision) == [2])
    #expect(change.batch(for: two).acknowledgement == Acknowledgement(upload: 5, revision: 2))
    #expect(change.batch(for: one).acknowledgement == nil && !change.batch(for: one).isComplete)
  }

  @Test("Keys are distinguished by their bytes")
  func keys() throws {
    let state = try state([upload(1, after: 0, [("é", .integer(1), 0), ("e\u{301}", .integer(2), 0)])])
    #expect(state.everything(for: two).items.map(\.value) == [.integer(2), .integer(1)])
    #expect(try SharedFile.everything(SharedFile.bytes(of: state)) == state)
  }

  @Test("Keys and bytes of all replicas stay within the limits, and may become fewer above them")
  func quota() throws {
    var limits = StoreLimits()
    (limits.keyCountMax, limits.byteCountMax) = (2, 20)
    let state = try state([
      upload(1, after: 0, [("a", .integer(1), 0), ("b", .integer(1), 0), ("c", .boolean(true), 0)])
    ])
    let decision = { (items: [(String, StoredValue?, Int64)]) in
      state.decision(on: self.upload(1, after: 0, items), of: self.two, limits)
    }
    #expect(decision([("d", .boolean(true), 0)]) == .overQuota)
    #expect(decision([("d", .boolean(true), 0), ("a", nil, 1)]) != .overQuota)
    #expect(decision([("c", .string("1234"), 1)]) != .overQuota)
    #expect(decision([("c", .string("12345"), 1)]) == .overQuota)
    #expect(decision([("c", nil, 1)]) != .overQuota && decision([("x", nil, 0)]) != .overQuota)
  }

  @Test("Of removed keys the last ones are kept")
  func removals() throws {
    var state = try state(
      (1...5).map { upload($0, after: Int64($0 - 1), [("k\($0)", nil, 0), ("v\($0)", .integer(1), 0)]) })
    state.forgetRemovals(keeping: 2)
    let items = state.everything(for: one).items
    #expect(items.filter { $0.value == nil }.map(\.key) == ["k4", "k5"] && items.count == 7)
    state.forgetRemovals(keeping: 2)
    #expect(state.everything(for: one).items == items)
  }

  private static let examples: [StoredValue?] = [
    nil, .boolean(true), .integer(.min), .real(.nan), .string("é\u{0}"), .data([0, 255]), .date(1.5),
    .dictionary(["a": .array([.dictionary([:])])]),
  ]

  @Test("A file is read as it was written; with another byte, or cut off anywhere, it's refused")
  func files() throws {
    let items = Self.examples.enumerated().map { ("k\($0)", $1, Int64(0)) }
    let whole = upload(1, after: 0, items)
    guard case .change(let change) = SharedState().decision(on: whole, of: one, StoreLimits()) else {
      Issue.record("it can be carried out")
      return
    }
    let state = try state([whole])
    #expect(try SharedFile.change(SharedFile.bytes(of: change)) == change)
    #expect(try SharedFile.everything(SharedFile.bytes(of: state)) == state)
    for bytes in [SharedFile.bytes(of: change), SharedFile.bytes(of: state)] {
      for index in bytes.indices {
        var altered = bytes
        altered[index] ^= 1
        // The last letter of the mark is the version.
        let expected: SharedFile.Failure = index < 7 ? .foreign : index == 7 ? .newerFormat : .damaged
        #expect(failure(altered) == expected, "byte \(index)")
        let short = failure(Array(bytes[..<index]))
        #expect(short == .damaged || index < 8 && short == .foreign || index == 7, "cut off at \(index)")
      }
      #expect(failure(bytes + [0]) == .damaged)
    }
    #expect(failure(Array(repeating: 0, count: 40)) == .damaged)
    // One kind isn't taken for the other.
    #expect(throws: SharedFile.Failure.damaged) { try SharedFile.everything(SharedFile.bytes(of: change)) }
    #expect(throws: SharedFile.Failure.damaged) { try SharedFile.change(SharedFile.bytes(of: state)) }
  }

  /// The reason why neither kind of file can be read.
  private func failure(_ bytes: [UInt8]) -> SharedFile.Failure? {
    do throws(SharedFile.Failure) {
      _ = try SharedFile.change(bytes)
      return nil
    } catch {
      do throws(SharedFile.Failure) {
        _ = try SharedFile.everything(bytes)
        return nil
      } catch { return error }
    }
  }
}
