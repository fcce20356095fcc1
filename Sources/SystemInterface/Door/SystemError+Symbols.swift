internal import Glibc

extension SystemError {
  /// The symbol of an error number, such as `ENOSPC`.
  ///
  /// - Parameter errno: An error number, as in errno(3).
  /// - Returns: Its symbol, or `errno N` for one that file calls don't return.
  public static func symbol(of errno: Int32) -> String {
    symbols[errno] ?? "errno \(errno)"
  }

  private static let symbols: [Int32: String] = [
    EPERM: "EPERM", ENOENT: "ENOENT", EINTR: "EINTR", EIO: "EIO", ENXIO: "ENXIO", E2BIG: "E2BIG", EBADF: "EBADF",
    EAGAIN: "EAGAIN", ENOMEM: "ENOMEM", EACCES: "EACCES", EFAULT: "EFAULT", EBUSY: "EBUSY", EEXIST: "EEXIST",
    EXDEV: "EXDEV", ENODEV: "ENODEV", ENOTDIR: "ENOTDIR", EISDIR: "EISDIR", EINVAL: "EINVAL", ENFILE: "ENFILE",
    EMFILE: "EMFILE", ENOTTY: "ENOTTY", ETXTBSY: "ETXTBSY", EFBIG: "EFBIG", ENOSPC: "ENOSPC", ESPIPE: "ESPIPE",
    EROFS: "EROFS", EMLINK: "EMLINK", EPIPE: "EPIPE", ERANGE: "ERANGE", EDEADLK: "EDEADLK",
    ENAMETOOLONG: "ENAMETOOLONG", ENOSYS: "ENOSYS", ENOTEMPTY: "ENOTEMPTY", ELOOP: "ELOOP", ENODATA: "ENODATA",
    EOVERFLOW: "EOVERFLOW", EOPNOTSUPP: "EOPNOTSUPP", ETIMEDOUT: "ETIMEDOUT", ESTALE: "ESTALE", EDQUOT: "EDQUOT",
    ENOTSOCK: "ENOTSOCK", EPROTOTYPE: "EPROTOTYPE", EAFNOSUPPORT: "EAFNOSUPPORT", EADDRINUSE: "EADDRINUSE",
    ECONNABORTED: "ECONNABORTED", ECONNRESET: "ECONNRESET", ENOBUFS: "ENOBUFS", EISCONN: "EISCONN",
    ENOTCONN: "ENOTCONN", ECONNREFUSED: "ECONNREFUSED",
  ]
}
