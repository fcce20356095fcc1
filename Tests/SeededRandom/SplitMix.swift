/// A small generator whose whole state is its seed, so that a seed names a run: SplitMix64.
package struct SplitMix: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Begins with a state, for which neighbouring numbers make overlapping runs.
  package init(state: UInt64) { self.state = state }

  package init(seed: UInt64) { self.init(state: seed &* 0x9e37_79b9_7f4a_7c15) }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  package mutating func chance(_ numerator: Int, in denominator: Int) -> Bool { below(denominator) < numerator }

  package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
