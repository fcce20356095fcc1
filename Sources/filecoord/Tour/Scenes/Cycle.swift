import FileCoordination
import FoundationEssentials

extension Scene {
  static let cycle = Scene("A real cycle is refused, with its reason") { stage in
    let first = try stage.makeFile("first.txt", "")
    let second = try stage.makeFile("second.txt", "")
    stage.explain("merge holds first.txt and requests second.txt; split holds second.txt and requests first.txt.")
    let error = try await nestInOppositeOrders(first, second, on: stage)
    stage.claim("One of them is refused at once, without a timeout, with the reason:", error?.code == .deadlock)
    stage.quote(error?.description ?? "")
    let labels = Set(error?.deadlock?.members.map(\.label) ?? [])
    stage.claim("The reason names both, and merge went on.", labels == ["merge", "split"])

    stage.explain("The remedy is to claim both files in one request; then the order doesn't matter.")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (name, one, other) in [("merge", first, second), ("split", second, first)] {
        group.addTask {
          try await stage.coordinator(name).write(one, and: other) { one, other in
            for url in [one.url, other.url] { try stage.append(name, to: url) }
          }
        }
      }
      try await group.waitForAll()
    }
    let texts = [stage.text(first) ?? "", stage.text(second) ?? ""]
    stage.claim(
      "merge and split both wrote both files, one after the other.",
      texts[0].contains("merge") && texts[0].contains("split") && texts[0] == texts[1])
  }

  /// - Returns: Why `split` was refused.
  private static func nestInOppositeOrders(
    _ first: URL, _ second: URL, on stage: Stage
  ) async throws -> FileCoordinationError? {
    try await withThrowingTaskGroup(of: Void.self) { group in
      let mergeMayGoOn = Gate()
      group.addTask {
        let merge = stage.coordinator("merge")
        try await merge.write(first) { _ in
          await mergeMayGoOn.pass()
          try await merge.write(second) { _ in }
        }
      }
      await stage.untilHolding(["merge"])
      let error = try await deadlock {
        let split = stage.coordinator("split")
        try await split.write(second) { _ in
          mergeMayGoOn.open()
          await stage.untilWaiting("merge", for: ["split"])
          try await split.write(first) { _ in }
        }
      }
      try await group.waitForAll()
      return error
    }
  }

  private static func deadlock(_ body: () async throws -> Void) async throws -> FileCoordinationError? {
    do {
      try await body()
      return nil
    } catch let error as FileCoordinationError {
      return error
    }
  }
}
