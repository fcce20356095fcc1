/// Which way leads to the Swift runtime: its functions directly, or the standard library.
///
/// The direct calls save an uncontended access most of its time, and aren't documented. So they are made only by compilers
/// for whose runtime the tests of this target have passed; with any other the standard library is called, which costs
/// some hundred nanoseconds more. When the tests pass with a new compiler, its version is let in here.
@usableFromInline
package enum RuntimeHooks {
  #if compiler(>=6.2) && compiler(<6.4)
    /// Whether the direct calls are known to work with this compiler's runtime.
    @inlinable package static var areTested: Bool { true }
  #else
    /// Whether the direct calls are known to work with this compiler's runtime.
    @inlinable package static var areTested: Bool { false }
  #endif
}
