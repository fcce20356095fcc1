internal import HTTPTransport
internal import SystemInterface

/// The changes to report.
public struct EtcdWatchOptions: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: Int

  /// Creates options.
  ///
  /// - Parameter rawValue: The bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Keys that are written.
  public static let puts = EtcdWatchOptions(rawValue: 1)
  /// Keys that are removed, or whose lease ends.
  public static let deletes = EtcdWatchOptions(rawValue: 2)
  /// The values before the changes, as far as they aren't compacted.
  public static let previousValues = EtcdWatchOptions(rawValue: 4)
}

extension EtcdClient {
  /// Reports the changes of a range, each once and in order.
  ///
  /// The stream to the server begins with the first `next()`. If it breaks or is silent for too long, another one takes its
  /// place behind the last change, at any server. It's tried without end until the task is cancelled or the watch can't go on,
  /// for example because nothing at the endpoints has ever answered as etcd does.
  /// If the reader is slow, the server keeps the changes.
  ///
  /// - Parameters:
  ///   - keys: The range.
  ///   - revision: The first revision to report, at most the one after the last; `nil` for changes from now on, of which the first batch, without
  ///     changes, has the revision.
  ///   - options: The changes to report.
  /// - Returns: The batches, for one reader.
  public func watch(
    _ keys: EtcdKeyRange, from revision: Int64? = nil, options: EtcdWatchOptions = [.puts, .deletes]
  ) -> EtcdWatch {
    EtcdWatch(client: self, keys: keys, revision: revision, options: options)
  }
}

/// The changes of a range, see ``EtcdClient/watch(_:from:options:)``.
public struct EtcdWatch: AsyncSequence, Sendable {
  /// Changes up to a revision.
  public typealias Element = EtcdWatchBatch
  /// The reason why changes are missing from here on: `compacted`, `futureRevision` after servers were restored from a backup,
  /// `permissionDenied`, `differentCluster`, `cancelled` or another.
  public typealias Failure = EtcdError

  let client: EtcdClient
  let keys: EtcdKeyRange
  let revision: Int64?
  let options: EtcdWatchOptions

  /// Creates a reader; each one has its own stream.
  ///
  /// - Returns: The reader.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Reads the batches.
  public struct Iterator: AsyncIteratorProtocol {
    private let watch: EtcdWatch
    private var core: WatchCore
    private var hasStarted = false
    private var failure: EtcdError?
    private var body: HTTPBody.Iterator?
    private var splitter = LineSplitter()
    /// Lines of the stream from `firstLine` on that weren't read.
    private var lines: [ArraySlice<UInt8>] = []
    private var firstLine = 0

    fileprivate init(_ watch: EtcdWatch) {
      self.watch = watch
      core = WatchCore(from: watch.revision)
    }

    /// Waits for the next batch.
    ///
    /// - Returns: The batch; never `nil`.
    /// - Throws: ``EtcdError``, each time from then on.
    public mutating func next() async throws(EtcdError) -> EtcdWatchBatch? { try await next(isolation: #isolation) }

    /// Waits for the next batch.
    ///
    /// - Parameter actor: The actor of the caller, on which it returns.
    /// - Returns: The batch; never `nil`.
    /// - Throws: ``EtcdError``, each time from then on.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(EtcdError) -> EtcdWatchBatch? {
      if let failure { throw failure }
      if watch.keys.start.bytes.isEmpty { throw EtcdTransaction.emptyKey }
      let client = watch.client
      var order = hasStarted ? core.proceed() : core.start(client.session.withLock { $0 })
      hasStarted = true
      while true {
        let event: WatchCore.Event
        switch order {
        case .open(let endpoint, let token, let revision): event = .opened(await open(endpoint, token, revision))
        case .authenticate(let endpoint):
          do throws(EtcdError) {
            let token = try await client.token(from: endpoint, limit: client.configuration.attemptLimit)
            event = .authenticationEnded(.success(token))
          } catch { event = .authenticationEnded(.failure(error)) }
        case .read: event = await read()
        case .askRevision:
          do throws(EtcdError) {
            event = .revisionAsked(.success(try await client.range(.key(watch.keys.start), limit: 1).revision))
          } catch { event = .revisionAsked(.failure(error)) }
        case .deliver(let batch): return batch
        case .pause(let duration):
          close()
          await client.clock.pause(duration)
          event = .pauseEnded
        case .fail(let error):
          close()
          failure = error
          throw error
        }
        // The closure may not take `self`, which is `inout`.
        var core = self.core
        order = client.session.withLock { core.take(event, &$0) }
        self.core = core
      }
    }

    private mutating func close() {
      body = nil
      splitter = LineSplitter()
      lines = []
      firstLine = 0
    }

    /// Opens a stream; the reason if that fails.
    private mutating func open(_ endpoint: Int, _ token: String?, _ revision: Int64?) async -> EtcdError? {
      close()
      let client = watch.client
      let message = EtcdWire.watch(watch.keys, from: revision, watch.options).encoded
      let limits = HTTPLimits(
        connection: .seconds(2), head: client.configuration.attemptLimit, silence: client.configuration.watchSilenceMax,
        bufferedByteCount: 4 << 20)
      var request = client.request("/v3/watch", message, endpoint, token, limits)
      // Without it a server that has lost its leader is silent (E-9).
      request.headers.append(HTTPHeader("Grpc-Metadata-hasleader", "true"))
      do throws(HTTPTransportError) {
        let response = try await client.transport.send(request)
        if response.head.status != 200 {
          return EtcdWire.error(status: response.head.status, body: try await response.body.collect(upTo: 1 << 20))
        }
        body = response.body.makeAsyncIterator()
        return nil
      } catch { return EtcdError(error) }
    }

    private mutating func read() async -> WatchCore.Event {
      while firstLine == lines.count {
        do throws(HTTPTransportError) {
          guard let piece = try await body?.next() else {
            return .streamEnded(EtcdError(.unavailable, "the server has ended the stream"))
          }
          guard let lines = splitter.take(piece) else {
            return .streamEnded(EtcdError(.invalidAnswer, "a message of the watch is too long"))
          }
          (self.lines, firstLine) = (lines, 0)
        } catch { return .streamEnded(EtcdError(error)) }
      }
      firstLine += 1
      return Self.event(lines[firstLine - 1])
    }

    private static func event(_ line: ArraySlice<UInt8>) -> WatchCore.Event {
      guard let value = try? JSONParser.parse(line), let message = try? EtcdWire.watchMessage(value) else {
        return .streamEnded(EtcdError(.invalidAnswer, "a message of the watch isn't one of etcd 3.4 or later"))
      }
      switch message {
      case .success(let message): return .message(message)
      case .failure(let error): return .streamEnded(error)
      }
    }
  }
}
