/// Something that predicates are evaluated for.
///
/// ``MetadataValue`` is one: a dictionary has its entries as attributes.
///
/// ``value(forAttribute:index:)`` is all that most items need. One that's asked millions of times also implements
/// ``answer(_:)``, which makes no values of data at hand:
///
/// ```swift
/// func answer(_ question: PredicateQuestion) -> PredicateAnswer {
///   question.attribute == "kMDItemFSName"
///     ? question.answer(name) : question.answer(value(forAttribute: question.attribute, index: question.index))
/// }
/// ```
public protocol PredicateItem {
  /// The value of an attribute; `.null` if it's missing.
  ///
  /// Called during an evaluation, on its thread, at most as often as the predicate names attributes, and only if the tests before it didn't
  /// decide; once more for a value that isn't of the kind that it's compared with.
  ///
  /// - Parameters:
  ///   - name: The name of the attribute.
  ///   - index: Its place in ``CompiledPredicate/attributes``, for items that have prepared their reading.
  /// - Returns: The value.
  func value(forAttribute name: String, index: Int) -> MetadataValue

  /// Compares an attribute with a constant.
  ///
  /// The default implementation calls ``value(forAttribute:index:)``. An implementation must give the same value to the
  /// question, in any form: as a text, as bytes of UTF-8, as a number or as a ``MetadataValue``.
  ///
  /// - Parameter question: The question about an attribute.
  /// - Returns: The question's answer to the value.
  func answer(_ question: PredicateQuestion) -> PredicateAnswer

  /// The item itself, which `SELF` means; all attributes by name for `ANYKEY`.
  var wholeValue: MetadataValue { get }
}

extension PredicateItem {
  /// Answers by the value.
  ///
  /// - Parameter question: The question about an attribute.
  /// - Returns: The question's answer to the value.
  @inlinable
  public func answer(_ question: PredicateQuestion) -> PredicateAnswer {
    question.answer(value(forAttribute: question.attribute, index: question.index))
  }
}

extension MetadataValue: PredicateItem {
  /// The entry of that name; of anything but a dictionary, `.null`.
  public func value(forAttribute name: String, index: Int) -> MetadataValue {
    AttributePath.value(self, forKey: name)
  }

  /// The value.
  public var wholeValue: MetadataValue { self }
}

/// One comparison of an attribute with a constant, during an evaluation.
public struct PredicateQuestion: Sendable {
  @usableFromInline let program: PredicateProgram
  @usableFromInline let place: Int

  @inlinable
  init(_ program: PredicateProgram, _ place: Int) {
    self.program = program
    self.place = place
  }

  /// The name of the attribute.
  @inlinable public var attribute: String { program.attributes[index] }

  /// The place of the attribute in ``CompiledPredicate/attributes``.
  @inlinable public var index: Int { program.steps[place].attribute }

  /// Answers for an attribute that has a value of any kind, or none.
  ///
  /// - Parameter value: The value; `.null` if it's missing.
  /// - Returns: The result of the item.
  @inlinable
  public func answer(_ value: MetadataValue) -> PredicateAnswer { PredicateAnswer(program.next(after: place, value)) }

  /// Answers for an attribute that's a text, without making a value of it.
  ///
  /// - Parameter text: The text.
  /// - Returns: The result of the item.
  @inlinable
  public func answer(_ text: String) -> PredicateAnswer { PredicateAnswer(program.next(after: place, text: text)) }

  /// Answers for an attribute that's a text, without making a string of it where its bytes decide.
  ///
  /// - Parameter text: The text in UTF-8. Bytes that aren't stand for U+FFFD, as in a `String` that is decoded from them.
  /// - Returns: The result of the item.
  @inlinable
  public func answer(utf8 text: Span<UInt8>) -> PredicateAnswer {
    PredicateAnswer(program.next(after: place, utf8: text))
  }
}

/// The answer of a ``PredicateQuestion`` to a value: how the evaluation goes on.
public struct PredicateAnswer: Sendable {
  @usableFromInline let next: Int

  @inlinable
  init(_ next: Int) { self.next = next }
}
