internal import CSystemShims
internal import Glibc

/// The record of each thread that uses this library: a small number of its own, and the work that it's in the middle
/// of.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | a thread's record | the thread itself | no other thread gets at it; it goes when the thread ends |
/// | the numbers in use | the lock of `numbers` | threads come and go |
///
/// The record is found through pthread_getspecific(3): 2 to 3 ns.
@safe
package struct ThreadRecord {
  private struct Storage {
    let number: Int
    var innermost: UInt = 0
    var spare: AnyObject?
  }

  private let storage: UnsafeMutablePointer<Storage>

  /// The record of the running thread.
  ///
  /// Don't take it beyond a suspension: a task may go on on another thread.
  package static var current: ThreadRecord {
    if let storage = unsafe pthread_getspecific(key) {
      return unsafe ThreadRecord(storage: storage.assumingMemoryBound(to: Storage.self))
    }
    return makeRecord()
  }

  /// The smallest number that no other living thread with a record had when this one got its record.
  package var number: Int { unsafe storage.pointee.number }

  /// A word for the work that the thread is in the middle of; zero at first.
  package var innermost: UInt {
    get { unsafe storage.pointee.innermost }
    nonmutating set { unsafe storage.pointee.innermost = newValue }
  }

  /// Takes the object that was left for the thread's next work, if there's one.
  package func takeSpare() -> AnyObject? { unsafe storage.pointee.spare.take() }

  /// Leaves an object for the thread's next work, which saves it from making its own; it goes when the thread ends.
  ///
  /// - Parameter object: The object, to which nobody else refers.
  package func keepSpare(_ object: AnyObject) { unsafe storage.pointee.spare = object }
}

extension ThreadRecord {
  private struct Numbers {
    var free: [Int] = []
    var next = 0
  }

  private static let numbers = Guarded(Numbers())

  /// Its destructor runs when a thread ends, see pthread_key_create(3).
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let code = unsafe pthread_key_create(&key) { storage in
      guard let storage = unsafe storage?.assumingMemoryBound(to: Storage.self) else { return }
      unsafe ThreadRecord.release(storage.pointee.number)
      unsafe storage.deinitialize(count: 1)
      unsafe storage.deallocate()
    }
    precondition(code == 0, "pthread_key_create failed with errno \(code)")
    return key
  }()

  @inline(never)
  private static func makeRecord() -> ThreadRecord {
    let number = numbers.withLock { numbers -> Int in
      if let smallest = numbers.free.popLast() { return smallest }
      numbers.next += 1
      return numbers.next - 1
    }
    let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 1)
    unsafe storage.initialize(to: Storage(number: number))
    let code = unsafe pthread_setspecific(key, storage)
    precondition(code == 0, "pthread_setspecific failed with errno \(code)")
    return unsafe ThreadRecord(storage: storage)
  }

  /// Keeps the free numbers in descending order, so that the smallest is given next.
  private static func release(_ number: Int) {
    numbers.withLock { numbers in
      let position = numbers.free.firstIndex { $0 < number } ?? numbers.free.endIndex
      numbers.free.insert(number, at: position)
    }
  }
}
