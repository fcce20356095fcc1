internal import FileAccessArbiter

// The questions to the service, and their answers.

extension ClientCore {
  /// Asks the service something.
  ///
  /// - Parameter makeFrame: The question of the given number.
  /// - Returns: The number, and the effects.
  package mutating func ask(_ makeFrame: (RequestNumber) -> ClientFrame) -> (RequestNumber, [ClientEffect]) {
    let number = pose(makeFrame)
    return (number, takeEffects())
  }

  @discardableResult
  mutating func pose(_ makeFrame: (RequestNumber) -> ClientFrame) -> RequestNumber {
    lastQuestion += 1
    let number = RequestNumber(lastQuestion)
    let frame = makeFrame(number)
    questions[number] = frame
    if case .accessShared(_, let id, let token) = frame { accesses[id]?.token = token }
    tell(frame)
    return number
  }

  /// The number of the question that was asked last.
  package var lastQuestionNumber: RequestNumber { RequestNumber(lastQuestion) }

  mutating func answer(_ number: RequestNumber, _ answer: ClientAnswer) {
    if questions.removeValue(forKey: number) != nil { effects.append(.answer(number, answer)) }
  }

  mutating func abandonQuestions() {
    for number in questions.keys.sorted(by: { $0.rawValue < $1.rawValue }) { answer(number, .unreachable) }
  }
}
