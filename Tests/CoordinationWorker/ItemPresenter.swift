import FileCoordination
import Foundation

/// Presents one of the shared files, lets go of it when it's asked to, and sometimes has something to save.
final class ItemPresenter: FilePresenter {
  let presentedItemURL: URL?
  let presenterLabel = "worker's presenter"
  let presentedItemCallbacks: FilePresenterCallbacks = [.relinquish, .saveChanges, .itemDidChange]
  private let item: Int
  private let log: HoldLog
  private let domain: CoordinationDomain

  init(_ item: Int, at url: URL, _ log: HoldLog, _ domain: CoordinationDomain) {
    presentedItemURL = url
    self.item = item
    self.log = log
    self.domain = domain
  }

  func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? { relinquish() }

  func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? { relinquish() }

  private func relinquish() -> FileReacquirer {
    log.append(.relinquished, item: item, lane: .presenter)
    return { [log, item] in log.append(.reacquired, item: item, lane: .presenter) }
  }

  func savePresentedItemChanges(origin: AccessOrigin) async throws {
    guard let url = presentedItemURL else { return }
    try await FileCoordinator(label: "save", presenter: self, domain: domain).write(url) { access in
      log.append(.beganWriting, item: item, lane: .presenter)
      CheckedFile(url: access.url, item: item, log: log).increment()
      log.append(.ended, item: item, lane: .presenter)
    }
  }

  func presentedItemDidChange(origin: AccessOrigin) async { log.append(.told, item: item, lane: .presenter) }
}
