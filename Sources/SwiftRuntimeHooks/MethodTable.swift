/// Which methods of a class its subclasses have overridden, which no code can ask on Linux.
///
/// The metadata of a class is a row of words; those of its methods are at the same places in that of each subclass, and hold
/// another address there if the method is overridden. The places are found with two subclasses: one that overrides nothing, and one that
/// overrides just the methods in question. So nothing is assumed about the layout but where the length of the row is. That's a
/// part of the runtime's stable interface on Apple platforms, and here it's let in by ``RuntimeHooks``.
///
/// ```
/// UIDocument   … open  close  save …
/// Silent       … open  close  save …      equal: not overridden
/// Overriding   … OPEN  CLOSE  save …      different: these are the places
/// ```
package struct MethodTable: Sendable {
  private let words: [UInt]
  private let places: [Int]

  /// Finds the places of some methods.
  ///
  /// - Parameters:
  ///   - base: The class that declares them.
  ///   - silent: A subclass that overrides nothing.
  ///   - overriding: A subclass that overrides the methods, and nothing else.
  ///   - count: How many methods these are. There's no table if it isn't what is expected of it, or the runtime isn't known.
  package init?(of base: AnyClass, silent: AnyClass, overriding: AnyClass, count: Int) {
    guard RuntimeHooks.areTested, let words = Self.words(base), let same = Self.words(silent),
      let other = Self.words(overriding), same.count >= words.count, other.count >= words.count
    else { return nil }
    let places = words.indices.filter { words[$0] == same[$0] && words[$0] != other[$0] }
    if places.count != count { return nil }
    self.words = words
    self.places = places
  }

  /// Whether a class overrides a method, or inherits an override.
  ///
  /// - Parameters:
  ///   - number: The number of the method, in the order of their declarations.
  ///   - subclass: The class, or a subclass of it.
  /// - Returns: Whether it does.
  package func isOverridden(_ number: Int, in subclass: AnyClass) -> Bool {
    guard let row = Self.words(subclass), row.count >= words.count else { return false }
    return row[places[number]] != words[places[number]]
  }

  /// The words of a class's metadata that follow its address.
  ///
  /// `unsafe`: after the kind, the superclass and four short numbers there are the size of the whole and the place of the address in it.
  /// Metadata live as long as the program.
  private static func words(_ type: AnyClass) -> [UInt]? {
    let address = unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
    let size = unsafe address.load(fromByteOffset: 32, as: UInt32.self)
    let start = unsafe address.load(fromByteOffset: 36, as: UInt32.self)
    guard size > start, size % 8 == 0, start % 8 == 0, size < 1 << 20 else { return nil }
    return stride(from: 0, to: Int(size - start), by: 8).map { place in
      unsafe address.load(fromByteOffset: place, as: UInt.self)
    }
  }
}
