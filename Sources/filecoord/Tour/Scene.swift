/// One thing that coordination does, played on real files.
struct Scene: Sendable {
  let title: String
  let play: @Sendable (Stage) async throws -> Void

  init(_ title: String, _ play: @escaping @Sendable (Stage) async throws -> Void) {
    self.title = title
    self.play = play
  }

  static let all = [
    sharing, savingFirst, lookingInside, following, askingBeforeDeletion, deletingDirectory, mutualReaders, cycle,
  ]
}
