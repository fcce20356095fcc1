/// Names an access to the processes that are started inside of it: 128 bits that nobody can guess.
///
/// The process that has the access draws it, and passes it on in the environment of its children. It's good for that
/// access only, and until it ends.
package struct AccessToken: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
}
