internal import Glibc

extension SystemPath {
  /// Calls `body` with the path as a C string; sets `errno` to EINVAL and returns -1 when the path contains a NUL.
  ///
  /// A kernel call given a truncated name would act on another file, hence the check on every call.
  func withCString<Result: SignedInteger>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
      let hasNUL = unsafe bytes.withUnsafeBytes { source in
        guard let from = source.baseAddress, let to = buffer.baseAddress else { return false }
        unsafe memcpy(to, from, source.count)
        return unsafe memchr(from, 0, source.count) != nil
      }
      if hasNUL {
        Glibc.errno = EINVAL
        return -1
      }
      unsafe buffer[bytes.count] = 0
      guard let start = buffer.baseAddress else { return -1 }
      return unsafe body(UnsafePointer(start))
    }
  }
}
