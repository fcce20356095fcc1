/// A value behind one reference: copies share it until one of them changes.
///
/// Reading a part of the value copies nothing but that part.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | the value | the uniqueness of `owner` | copies share it, and a box copies it before it changes what is shared |
@safe
struct Box<Value: Sendable>: @unchecked Sendable {
  private var owner: BoxOwner<Value>
  /// The owner's, kept here as well so that reading needs no look at the owner.
  private var place: UnsafeMutablePointer<Value>

  init(_ value: Value) {
    owner = BoxOwner(value)
    unsafe place = unsafe owner.place
  }

  var value: Value {
    @inline(__always) unsafeAddress { unsafe address }
    @inline(__always) unsafeMutableAddress { unsafe mutableAddress }
  }

  /// Where the value is until the box changes.
  var address: UnsafePointer<Value> { unsafe UnsafePointer(place) }

  var mutableAddress: UnsafeMutablePointer<Value> {
    mutating get {
      if !isKnownUniquelyReferenced(&owner) { self = Box(value) }
      return unsafe place
    }
  }
}

@safe
private final class BoxOwner<Value: Sendable> {
  let place: UnsafeMutablePointer<Value>

  init(_ value: Value) {
    unsafe place = .allocate(capacity: 1)
    unsafe place.initialize(to: value)
  }

  deinit {
    unsafe place.deinitialize(count: 1)
    unsafe place.deallocate()
  }
}
