/// How much one process may have in a domain of several processes.
///
/// A call beyond them fails before anything is sent. The service disconnects processes only a good way beyond that: a
/// process also reports accesses that it granted itself, and no call can fail there.
package struct ProcessLimits: Sendable {
  /// How many accesses and presenters.
  package var partyCountMax = 1 << 20
  /// How many accessors and callbacks an access may be nested in.
  package var nestingDepthMax = 1024
  /// How many purposes with names of their own may be in use.
  package var purposeCountMax = 65_536

  package static let standard = ProcessLimits()
}
