package import KeyValueReplicas

/// A place that replicas share, empty at first, for the tests that all such places have to pass.
package protocol SharedPlace: Sendable {
  associatedtype Storage: SharedStorage

  /// The place as a replica sees it.
  func storage(_ replica: ReplicaID, _ limits: StoreLimits) async throws -> Storage

  /// A fault that the next upload shall meet; a place that has no such faults ignores it.
  func prepare(_ fault: UploadFault) async
  /// Carries out uploads that came late.
  func deliverLate() async
  /// Forgets the history, so that those who are behind have to read everything.
  func forgetHistory() async
  /// Ends the streams of all readers, which go on by themselves.
  func cutStreams() async
}

/// A fault of one upload.
package enum UploadFault: Hashable, Sendable, CaseIterable {
  /// It's carried out, and the answer is lost.
  case answerIsLost
  /// It isn't carried out, and the uploader can't know.
  case requestIsLost
  /// It's carried out with ``SharedPlace/deliverLate()``, and the uploader can't know.
  case requestIsLate
}

extension SharedPlace {
  package func prepare(_ fault: UploadFault) async {}
  package func deliverLate() async {}
  package func forgetHistory() async {}
  package func cutStreams() async {}

  func storage(_ number: UInt64) async throws -> Storage {
    try await storage(ReplicaID(rawValue: number), StoreLimits())
  }
}

extension Upload {
  /// An upload of values by a replica, each with the revision that it must still have.
  init(
    _ id: Int, by replica: UInt64, after acknowledgement: Int64,
    _ items: [(key: String, value: StoredValue?, expectedRevision: Int64)]
  ) {
    self.init(
      id: id,
      items: items.map {
        Item(
          key: $0.key, value: $0.value,
          time: HybridTime(wall: Int64(id), count: 0, replica: ReplicaID(rawValue: replica)),
          expectedRevision: $0.expectedRevision, sequence: id)
      }, expectedAcknowledgement: acknowledgement)
  }
}

extension UploadOutcome {
  var revision: Int64? { if case .applied(let revision) = self { revision } else { nil } }
}
