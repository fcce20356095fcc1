// Public for the other targets of this package alone, which get specialized code for it; no product offers it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// The requirement of a ``Box`` to its value.
public protocol Boxed: ~Copyable, Sendable {
  /// A second one that is equal and changes for itself.
  func duplicate() -> Self
}

/// A value behind one reference: copies share it until one of them changes.
///
/// Reading a part of the value copies nothing but that part. The value itself can't be copied by accident: to call a method
/// of a copyable one, the compiler would retain and release all that it refers to.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | the value | the uniqueness of `owner` | copies share it, and a box copies a shared one before it changes it |
///
/// `@unchecked Sendable` for the pointer and the object: they lead to one sendable value that never changes while it's
/// shared.
@safe
public struct Box<Value: Boxed & ~Copyable>: @unchecked Sendable {
  @usableFromInline var owner: BoxOwner<Value>
  /// The owner's, kept here as well so that reading needs no look at the owner.
  @usableFromInline var place: UnsafeMutablePointer<Value>

  @inlinable public init(_ value: consuming Value) {
    owner = BoxOwner(value)
    unsafe place = unsafe owner.place
  }

  @inlinable public var value: Value {
    @inline(__always) unsafeAddress { unsafe address }
    @inline(__always) unsafeMutableAddress { unsafe mutableAddress }
  }

  /// Where the value is until the box changes.
  @inlinable public var address: UnsafePointer<Value> { unsafe UnsafePointer(place) }

  @inlinable public var mutableAddress: UnsafeMutablePointer<Value> {
    mutating get {
      if !isKnownUniquelyReferenced(&owner) { self = Box(value.duplicate()) }
      return unsafe place
    }
  }
}

@safe
public final class BoxOwner<Value: Boxed & ~Copyable> {
  @usableFromInline let place: UnsafeMutablePointer<Value>

  @inlinable public init(_ value: consuming Value) {
    unsafe place = .allocate(capacity: 1)
    unsafe place.initialize(to: value)
  }

  @inlinable deinit {
    unsafe place.deinitialize(count: 1)
    unsafe place.deallocate()
  }
}
