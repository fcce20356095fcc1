internal import CSystemShims
internal import Glibc
internal import Synchronization

package func probe() -> Int32 {
  let a = Atomic<UInt32>(0)
  return a.load(ordering: .relaxed) == 0 ? 0 : 1
}
