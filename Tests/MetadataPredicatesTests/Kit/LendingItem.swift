import MetadataPredicates

/// A dictionary that answers questions about texts without making values of them.
struct LendingItem: PredicateItem {
  enum Form { case text, bytes }

  let value: MetadataValue
  let form: Form

  func value(forAttribute name: String, index: Int) -> MetadataValue { value.value(forAttribute: name, index: index) }

  func answer(_ question: PredicateQuestion) -> PredicateAnswer {
    let value = value(forAttribute: question.attribute, index: question.index)
    guard case .string(let text) = value else { return question.answer(value) }
    switch form {
    case .text: return question.answer(text)
    case .bytes: return question.answer(utf8: Array(text.utf8).span)
    }
  }

  var wholeValue: MetadataValue { value }
}
