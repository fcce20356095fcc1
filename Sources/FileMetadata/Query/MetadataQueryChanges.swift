extension MetadataQuery {
  /// The changes of the results, batch by batch.
  ///
  /// The first batch contains the existing results. A slow reader gets fewer and larger batches, and misses nothing: at
  /// most one batch waits. There is one reader at a time; the last one that began gets everything, others end. Ends
  /// with ``stop()``, and when the task is cancelled; at once if the query isn't started.
  public var changes: Changes { Changes(query: self) }

  /// Batches of changes.
  public struct Changes: AsyncSequence, Sendable {
    /// A batch.
    public typealias Element = MetadataQueryChange
    /// Nothing fails.
    public typealias Failure = Never

    let query: MetadataQuery

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(query) }
  }

  /// Reads batches of changes, for one task.
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    /// Nothing fails.
    public typealias Failure = Never

    /// Keeps the query alive; `nil` if it isn't to be kept.
    private let query: MetadataQuery?
    private let session: QuerySession?
    private let reader: Int

    init(_ query: MetadataQuery, keepsQuery: Bool = true) {
      self.query = keepsQuery ? query : nil
      session = query.current
      guard let session else {
        reader = 0
        return
      }
      var number = 0
      session.act { port in
        let (reader, takenCount) = port.beginReading()
        number = reader
        return { .readerBegan($0, count: takenCount) }
      }
      reader = number
    }

    /// Waits for the next batch.
    ///
    /// - Returns: The batch; `nil` at the end.
    public mutating func next() async -> MetadataQueryChange? {
      guard let session else { return nil }
      let reader = reader
      return await withTaskCancellationHandler {
        await withCheckedContinuation { waiter in
          var fetch = QueryPort.Fetch.waiting
          session.act { port in
            fetch = port.fetch(reader, waiter)
            guard case .change(_, let takenCount) = fetch else { return nil }
            return { .taken($0, count: takenCount) }
          }
          switch fetch {
          case .change(let change, _): waiter.resume(returning: change)
          case .ended: waiter.resume(returning: nil)
          case .waiting: break
          }
        }
      } onCancel: {
        session.act { port in port.cancel(reader).map { takenCount in { .taken($0, count: takenCount) } } }
      }
    }
  }
}
