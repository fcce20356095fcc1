internal import SystemInterface

/// The actions of one step, in memory that the thread uses again for the next step.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `actions` | the thread: it belongs to the step that took it | a step inside of that one finds none, and makes another |
final class ActionList {
  var actions: [ArbiterHost.Action] = []

  /// Room for more actions isn't kept.
  private static let keptCountMax = 64

  /// That of the running thread.
  static func ofThread() -> ActionList { ThreadRecord.current.takeSpare() as? ActionList ?? ActionList() }

  /// Lets go of everything that the actions refer to, and leaves the list to the next step of the running thread.
  func giveBack() {
    if actions.capacity > Self.keptCountMax { actions = [] }
    actions.removeAll(keepingCapacity: true)
    ThreadRecord.current.keepSpare(self)
  }

  /// Takes the first message to a presenter out.
  func takeDelivery(to record: PresenterRecord) -> ArbiterHost.AddressedDelivery? {
    for index in actions.indices {
      if case .deliver(let delivery) = actions[index], delivery.record === record {
        actions.remove(at: index)
        return delivery
      }
    }
    return nil
  }
}
