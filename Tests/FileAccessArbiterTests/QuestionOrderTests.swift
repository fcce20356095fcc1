import Testing

@testable import FileAccessArbiter

/// The questions of one negotiation, which are no list.
@Suite("Questions to one presenter")
struct QuestionOrderTests {
  private static let questions: [MessageRules.Questions] = {
    var all: [MessageRules.Questions] = []
    for relinquish in [MessageRules.Questions.Relinquish.none, .toReader, .toWriter] {
      for bits in 0..<8 {
        for count in 0...2 {
          var questions = MessageRules.Questions()
          questions.relinquish = relinquish
          questions.save = bits & 1 != 0
          questions.accommodateDeletion = bits & 2 != 0
          questions.accommodateEviction = bits & 4 != 0
          questions.subitemDeletions = ["/a", "/b"].prefix(count).map { $0 }
          all.append(questions)
        }
      }
    }
    return all
  }()

  /// The order of the rules, written down once more.
  private static func expected(_ questions: MessageRules.Questions) -> [Message.Kind] {
    var kinds: [Message.Kind] = []
    if questions.relinquish == .toReader { kinds.append(.relinquishToReader) }
    if questions.relinquish == .toWriter { kinds.append(.relinquishToWriter) }
    if questions.save { kinds.append(.saveChanges) }
    if questions.accommodateDeletion { kinds.append(.accommodateDeletion) }
    if questions.accommodateEviction { kinds.append(.accommodateEviction) }
    return kinds + questions.subitemDeletions.map { .accommodateSubitemDeletion($0) }
  }

  @Test("C-030: A presenter is asked to relinquish first, then to save, then to accommodate; C-070: each once")
  func order() {
    for questions in Self.questions {
      var rest = questions
      var taken: [Message.Kind] = []
      while let next = rest.next {
        #expect(rest.takeNext() == next)
        taken.append(next)
      }
      #expect(rest.takeNext() == nil)
      #expect(rest == MessageRules.Questions())
      #expect(taken == Self.expected(questions))
      #expect(questions.kinds == taken)
    }
  }

  @Test("C-036, C-037: Questions that a presenter didn't declare are left out, and no others")
  func undeclared() {
    let callbacks: [PresenterCallbacks] = [
      .relinquishToReader, .relinquishToWriter, .saveChanges, .accommodateDeletion, .accommodateEviction,
      .accommodateSubitemDeletion,
    ]
    for bits in 0..<(1 << callbacks.count) {
      var declared = PresenterCallbacks()
      for (index, callback) in callbacks.enumerated() where bits & (1 << index) != 0 { declared.formUnion(callback) }
      for questions in Self.questions {
        let expected = questions.kinds.filter { declared.contains($0.requiredCallback) }
        #expect(questions.declared(in: declared).kinds == expected)
      }
    }
  }
}
