import MetadataPredicates
import Testing

/// Evaluates a text for an item.
///
/// - Parameters:
///   - format: The predicate.
///   - arguments: The values for `%@` and the like.
///   - item: The item to evaluate it for.
///   - environment: The present moment and the like.
/// - Returns: Whether it holds.
/// - Throws: The error in the text.
func holds(
  _ format: String, _ arguments: [MetadataValue] = [], for item: MetadataValue = [:],
  in environment: PredicateEnvironment = .standard
) throws -> Bool {
  let predicate = try MetadataPredicate(format: format, arguments: arguments)
  // The printed text means the same.
  #expect(try MetadataPredicate(format: predicate.formatString) == predicate)
  return try predicate.compiled().matches(item, in: environment)
}

/// The error that something throws.
///
/// - Parameter body: The call that should fail.
/// - Returns: The error.
/// - Throws: If it doesn't fail.
func error(of body: () throws(MetadataPredicateError) -> Void) throws -> MetadataPredicateError {
  var thrown: MetadataPredicateError?
  do throws(MetadataPredicateError) { try body() } catch { thrown = error }
  return try #require(thrown)
}
