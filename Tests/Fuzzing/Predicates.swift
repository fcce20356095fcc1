// Feeds arbitrary text to the parsers of predicates, see `.ci/fuzz`. No target of the package.
import MetadataPredicates

/// Called by libFuzzer with each input that it makes up.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPredicates(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  if let predicate = try? MetadataPredicate(format: text) { check(predicate) }
  if let predicate = try? MetadataPredicate(query: text) { check(predicate) }
  // As a pattern each of the languages for texts gets to see every input; they print alike.
  for comparator in [PredicateComparator.matches, .like, .contains, .tokenMatches] {
    let comparison = PredicateComparison(
      .attribute("name"), comparator, .constant(.string(text)), options: [.caseInsensitive, .diacriticInsensitive])
    let predicate = MetadataPredicate.comparison(comparison)
    if comparator == .matches { checkText(predicate) }
    checkEvaluation(predicate)
  }
  return 0
}

private let items: [MetadataValue] = [
  [:], ["name": "Étude 10.md", "size": 10, "tags": ["x", "y"], "items": [["n": 1], ["n": 2.5]], "date": 0],
  ["name": "", "size": "text", "tags": .set([1, "x"]), "items": ["n": nil]], "Étude e\u{301}",
]

private func check(_ predicate: MetadataPredicate) {
  checkText(predicate)
  checkEvaluation(predicate)
}

/// A parsed predicate prints to a text of the same tree.
private func checkText(_ predicate: MetadataPredicate) {
  let text = predicate.formatString
  do throws(MetadataPredicateError) {
    let again = try MetadataPredicate(format: text)
    precondition(again == predicate, "\(text) became \(again)")
  } catch {
    // The canonical text has parentheses that the original may do without. A pattern that wasn't text is checked only there.
    precondition(error.code == .limit || error.code == .regularExpression, "\(text) can't be parsed: \(error)")
  }
}

/// It's evaluated without harm.
private func checkEvaluation(_ predicate: MetadataPredicate) {
  guard let compiled = try? predicate.compiled(limits: .untrusted) else { return }
  let environment = PredicateEnvironment(now: MetadataDate(secondsSince2001: 0))
  for item in items {
    let (matches, _) = compiled.diagnosedMatches(item, in: environment)
    precondition(matches == compiled.matches(item, in: environment), "\(predicate.formatString) is undecided")
  }
}
