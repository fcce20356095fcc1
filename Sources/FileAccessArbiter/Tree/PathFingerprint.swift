internal import CompactContainers

/// 64 bits that stand for a path, made component by component, so that one pass gives those of all directories on the way.
///
/// Two different paths may have the same fingerprint. Code that decides by fingerprints must therefore take equality
/// for "perhaps the same path"; different fingerprints do mean different paths. The seed is chosen per process, so that
/// names that collide can't be prepared.
///
/// Zero is no fingerprint: tables may use it to say "nothing".
package struct PathFingerprint: Hashable, Sendable {
  package let rawValue: UInt64

  @inline(__always)
  init(mixing value: UInt64) { rawValue = value == 0 ? PathFingerprint.firstFactor : value }

  /// The fingerprint of `/`.
  @inline(__always)
  package static func root(seed: UInt64) -> PathFingerprint {
    PathFingerprint(mixing: Mixing.fold(seed ^ firstFactor, secondFactor))
  }

  /// The fingerprint of something in this directory.
  ///
  /// - Parameter name: One component: bytes without a slash.
  /// - Returns: Its fingerprint.
  /// - Complexity: O(length of the name): a multiplication for each eight bytes.
  @inline(__always)
  package func child(named name: RawSpan) -> PathFingerprint {
    let count = name.byteCount
    var hash = rawValue ^ (UInt64(truncatingIfNeeded: count) &* Self.secondFactor)
    var offset = 0
    while offset &+ 8 <= count {
      let word = unsafe name.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
      hash = Mixing.fold(hash ^ word, Self.firstFactor)
      offset &+= 8
    }
    // The last one to seven bytes; the length above distinguishes "a" from "a\0".
    var rest: UInt64 = 0
    var shift: UInt64 = 0
    while offset < count {
      rest |= UInt64(unsafe name.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)) &<< shift
      shift &+= 8
      offset &+= 1
    }
    return PathFingerprint(mixing: Mixing.fold(hash ^ rest, Self.secondFactor))
  }

  package func child(named name: some Collection<UInt8>) -> PathFingerprint {
    let bytes = Array(name)
    return unsafe child(named: bytes.span.bytes)
  }

  /// The fingerprints of all directories on the way to an item, `/` first, and of the item itself, last.
  ///
  /// - Parameters:
  ///   - path: A canonical path, see ``ItemPath``.
  ///   - seed: The seed of the process or domain.
  ///   - body: Called with one fingerprint after the other.
  @inline(__always)
  package static func forEachPrefix(
    of path: RawSpan, seed: UInt64, _ body: (PathFingerprint) -> Void
  ) {
    var fingerprint = root(seed: seed)
    body(fingerprint)
    let count = path.byteCount
    var start = 1
    while start < count {
      var end = start
      while end < count, unsafe path.unsafeLoad(fromUncheckedByteOffset: end, as: UInt8.self) != ItemPath.slash {
        end &+= 1
      }
      fingerprint = unsafe fingerprint.child(named: path.extracting(unchecked: start..<end))
      body(fingerprint)
      start = end &+ 1
    }
  }

  /// The fingerprints of all directories on the way to an item, `/` first, and of the item itself, last.
  package static func prefixes(of path: ItemPath, seed: UInt64) -> [PathFingerprint] {
    var result: [PathFingerprint] = []
    unsafe forEachPrefix(of: path.bytes.span.bytes, seed: seed) { result.append($0) }
    return result
  }

  /// The fingerprint of an item.
  package static func whole(of path: ItemPath, seed: UInt64) -> PathFingerprint {
    var last = root(seed: seed)
    unsafe forEachPrefix(of: path.bytes.span.bytes, seed: seed) { last = $0 }
    return last
  }

  private static let firstFactor = Mixing.goldenFactor
  private static let secondFactor: UInt64 = 0xd6e8_feb8_6659_fd93
}
