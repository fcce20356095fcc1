import CoordinationService
import FileAccessArbiter

/// Makes frames of every case, filled with values that a seed determines.
struct WireFrameGenerator {
  var state: UInt64

  init(seed: UInt64) { state = seed }

  static let clientFrameCaseCount = 15
  static let serverFrameCaseCount = 22

  // MARK: - Frames

  mutating func clientFrame(ofCase index: Int) -> ClientFrame {
    switch index {
    case 0:
      .hello(
        Hello(
          session: number(), processIdentifier: Int32(truncatingIfNeeded: number()), processStartTime: number(),
          processName: text(), packageExtensions: list { $0.text() }, previousEpoch: number(),
          outerAccess: maybe { $0.accessToken() }))
    case 1: .purposeNamed(purpose(), text())
    case 2: .event(event())
    case 3: .presenterEvent(RequestNumber(number()), event())
    case 4: .itemMoved(RequestNumber(number()), by: access(), from: path(), to: path(), replaced: flag())
    case 5: .delegationReturned(DelegationID(number()))
    case 6: .reasserted(reassertion())
    case 7: .reassertionEnded
    case 8: .snapshotWanted(RequestNumber(number()))
    case 9: .surveyed(RequestNumber(number()))
    case 10: .validationWanted(RequestNumber(number()), access())
    case 11: .observationWanted(flag())
    case 12: .purposeForgotten(purpose())
    case 13: .accessShared(RequestNumber(number()), access(), accessToken())
    default: .serviceWanted
    }
  }

  mutating func serverFrame(ofCase index: Int) -> ServerFrame {
    switch index {
    case 0:
      .welcome(Welcome(epoch: number(), serviceProcessIdentifier: Int32(truncatingIfNeeded: number())))
    case 1: .refused(oneOf(Refusal.allCases), explanation: text())
    case 2: .granted(access(), grant(), FencingToken(epoch: number(), sequence: number()))
    case 3: .failed(access(), failure(), explanation: maybe { PresenterFailure(code: $0.text(), text: $0.text()) })
    case 4: .delivered(delivery(), deliveryOrigin())
    case 5: .itemMoved(access(), item: UInt32(truncatingIfNeeded: number()), to: path())
    case 6: .presenterMoved(presenter(), to: path())
    case 7: .presenterToBeLocated(presenter())
    case 8: .presenterForgotten(presenter())
    case 9:
      .reported(
        access(),
        WaitReport(waiter: accessSummary(), waiting: time(), blockers: members(), passedOver: list { $0.text() }))
    case 10: .delegated(DelegationID(number()), root: path(), mode: oneOf(DelegationMode.allCases))
    case 11: .recalled(DelegationID(number()))
    case 12: .answered(RequestNumber(number()), flag())
    case 13: .survey(RequestNumber(number()))
    case 14: .snapshot(RequestNumber(number()), snapshot())
    case 15: .lost(access())
    case 16: .moved(from: path(), to: path())
    case 17: .observed(snapshot())
    case 18: .settle(EchoID(number()))
    case 19: .verifyAgain(change())
    case 20: .saveWithdrawn(MessageID(number(), epoch: number()))
    default: .graceEnded
    }
  }

  // MARK: - Frames of processes

  private mutating func event() -> ArbiterEvent {
    switch below(19) {
    case 0: .accessRequested(access(), request())
    case 1: .accessAdopted(access(), request())
    case 2:
      .accessReleased(access(), list { $0.oneOf([.unknown, .untouched, .abandoned, .changed, .appeared, .vanished]) })
    case 3: .accessCancelled(access())
    case 4: .presenterAdded(presenter(), registration())
    case 5: .presenterLocated(presenter(), path(), observing: maybe { $0.texts() })
    case 6: .presenterRemoved(presenter())
    case 7: .messageAnswered(MessageID(number(), epoch: number()), hasReacquirer: flag())
    case 8:
      .messageFailed(
        MessageID(number(), epoch: number()), explanation: PresenterFailure(code: text(), text: text()))
    case 9: .ubiquityAttributesChanged(announcement(), texts())
    case 10: .changesSeen(ClientID(number()), list { $0.change() })
    case 11: .changesConfirmed(ClientID(number()), list { $0.change() })
    case 12: .echoEnded(ClientID(number()), EchoID(number()))
    case 13: .callbackReturned(MessageID(number()))
    case 14: .presenterRelabelled(presenter(), text())
    case 15: .callbackBegan(MessageID(number()))
    case 17: .relinquished(MessageID(number(), epoch: number()), hasReacquirer: flag())
    case 16: .presenterLearned(presenter(), PresenterCallbacks(rawValue: UInt32(truncatingIfNeeded: number())))
    default: .versionChanged(announcement(), versionChange(), text())
    }
  }

  private mutating func change() -> ItemChange {
    switch below(5) {
    case 0: .changed(path())
    case 1: .appeared(path())
    case 2: .vanished(path())
    case 3: .moved(from: path(), to: path(), replaced: flag())
    default: .unknown(path())
    }
  }

  mutating func request() -> AccessRequest {
    var request = AccessRequest(
      client: ClientID(number()), purpose: purpose(), ownPresenter: maybe { $0.presenter() }, label: text(),
      items: list { AccessRequest.Item($0.path(), $0.itemAccess()) },
      context: maybe { $0.flag() ? .access($0.access()) : .message(MessageID($0.number(), epoch: $0.number())) },
      limits: AccessRequest.Limits(
        waiting: maybe { $0.limit() }, answering: maybe { $0.limit() }, reporting: maybe { $0.limit() },
        stoppedPresenters: maybe { $0.limit() }, stoppedHolders: maybe { $0.limit() }))
    request.readingOptions = UInt(truncatingIfNeeded: number())
    request.isPreparation = flag()
    request.isAwaitedByContext = flag()
    request.blocksThread = flag()
    request.isOnMainThread = flag()
    request.proceedsWithoutLateAnswers = flag()
    request.presenterAround = maybe { $0.presenter() }
    return request
  }

  private mutating func itemAccess() -> ItemAccess {
    switch below(4) {
    case 0: .read(withoutChanges: flag())
    case 1: .readAll(withoutChanges: flag())
    case 2: .delegated(forWriting: flag())
    default: .write(oneOf(WriteIntent.allCases))
    }
  }

  private mutating func registration() -> PresenterRegistration {
    var registration = PresenterRegistration(
      client: ClientID(number()), purpose: purpose(), label: text(),
      callbacks: PresenterCallbacks(rawValue: UInt32(truncatingIfNeeded: number())), path: maybe { $0.path() },
      observedUbiquityAttributes: maybe { $0.texts() })
    registration.servesWhileWaiting = flag()
    registration.isActor = flag()
    return registration
  }

  private mutating func announcement() -> Announcement {
    Announcement(
      client: ClientID(number()), purpose: purpose(), ownPresenter: maybe { $0.presenter() }, label: text(),
      path: path())
  }

  private mutating func reassertion() -> Reassertion {
    switch below(4) {
    case 0: .access(access(), request())
    case 1:
      .presenter(
        presenter(), registration(),
        running: list { RunningCallback(message: MessageID($0.number(), epoch: $0.number()), kind: $0.messageKind()) })
    case 2: .token(access(), accessToken())
    default: .debt(presenter(), MessageID(number(), epoch: number()), owedFor: debtOrigin())
    }
  }

  // MARK: - Frames of the service

  private mutating func grant() -> Grant {
    Grant(
      items: list { Grant.Item(path: $0.path(), wasMoved: $0.flag(), wasReplaced: $0.flag()) },
      wantsOutcome: flag(), unanswered: list { $0.text() })
  }

  private mutating func failure() -> Failure {
    switch below(8) {
    case 0: .cancelled
    case 1: .timedOut(waiting: time(), blockers: members())
    case 2: .unanswered(waiting: time(), blockers: members(), followers: members())
    case 3: .presenterFailed(MessageID(number(), epoch: number()), messageSummary())
    case 4: .evictionRefused(presenterLabel: text(), isCallbackMissing: flag())
    case 5: .outerAccessEnded
    case 6: .nestedTooDeep(limit: below(1 << 20))
    default: .deadlock(members())
    }
  }

  private mutating func delivery() -> Delivery {
    Delivery(
      message: MessageID(number(), epoch: number()), presenter: presenter(), kind: messageKind(),
      origin: Message.Origin(
        access: maybe { AccessID($0.number()) }, client: ClientID(number()), purpose: PurposeID(number()),
        label: text(), itemAccess: maybe { $0.itemAccess() }, readingOptions: UInt(truncatingIfNeeded: number()),
        isPreparation: flag(), verified: maybe { $0.flag() }, folded: below(1000)),
      above: maybe { MessageID($0.number(), epoch: $0.number()) },
      announcing: maybe { MessageID($0.number(), epoch: $0.number()) }, ahead: flag())
  }

  private mutating func messageKind() -> Message.Kind {
    switch below(15) {
    case 0: .relinquishToReader
    case 1: .relinquishToWriter
    case 2: .saveChanges
    case 3: .accommodateDeletion
    case 4: .accommodateEviction
    case 5: .accommodateSubitemDeletion(path())
    case 6: .reacquire(MessageID(number(), epoch: number()))
    case 7: .itemDidChange
    case 8: .itemDidMove(to: path())
    case 9: .itemDidChangeUbiquityAttributes(list { $0.text() })
    case 10: .itemVersion(versionChange(), text())
    case 11: .subitemDidAppear(path())
    case 12: .subitemDidChange(path())
    case 13: .subitemDidMove(from: path(), to: path())
    default: .subitemVersion(path(), versionChange(), text())
    }
  }

  private mutating func deliveryOrigin() -> DeliveryOrigin {
    DeliveryOrigin(
      processIdentifier: Int32(truncatingIfNeeded: number()), processName: text(), purpose: text(),
      debtOrigin: maybe { $0.debtOrigin() })
  }

  private mutating func accessSummary() -> AccessSummary {
    AccessSummary(
      id: AccessID(number()), client: ClientID(number()), clientName: text(), label: text(),
      items: list { AccessRequest.Item($0.path(), $0.itemAccess()) }, omittedItemCount: below(1 << 20),
      isPreparation: flag(),
      phase: oneOf([.waiting, .asking, .ready, .granted]), since: time())
  }

  private mutating func messageSummary() -> MessageSummary {
    MessageSummary(
      id: MessageID(number(), epoch: number()), presenter: PresenterID(number()), clientName: text(),
      presenterLabel: text(),
      presentedPath: maybe { $0.path() }, callback: text(), isRunning: flag(), since: time())
  }

  private mutating func members() -> [WaitMember] {
    list { generator in
      switch generator.below(3) {
      case 0: .access(generator.accessSummary())
      case 1: .message(generator.messageSummary())
      default: .others(generator.below(1 << 20))
      }
    }
  }

  private mutating func snapshot() -> SnapshotReply {
    let accesses = list {
      ArbiterSnapshot.Access(
        summary: $0.accessSummary(), requestedAt: $0.time(), blockers: $0.members(),
        outer: $0.maybe { AccessID($0.number()) })
    }
    let presenters = list {
      ArbiterSnapshot.Presenter(
        id: PresenterID($0.number()), client: ClientID($0.number()), clientName: $0.text(), label: $0.text(),
        path: $0.maybe { $0.path() }, callbacks: PresenterCallbacks(rawValue: UInt32($0.below(1 << 20))),
        running: $0.list { $0.messageSummary() }, pendingCount: $0.below(1000))
    }
    return SnapshotReply(
      arbiter: ArbiterSnapshot(
        time: time(), accesses: accesses, presenters: presenters, nodeCount: below(1 << 40)),
      processes: list {
        SnapshotReply.Process(
          processIdentifier: Int32($0.below(1 << 22)), name: $0.text(), isService: $0.flag(),
          delegations: $0.list { $0.path() })
      },
      epoch: number(), isInGrace: flag())
  }

  private mutating func accessToken() -> AccessToken { AccessToken(high: number(), low: number()) }

  private mutating func debtOrigin() -> DebtOrigin { DebtOrigin(session: number(), access: access()) }
}
