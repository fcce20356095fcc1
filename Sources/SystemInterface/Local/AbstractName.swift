internal import CSystemShims
internal import Glibc

/// A name that one process of this computer has at a time, and that nobody can remove: it goes with the process.
///
/// It's the name of a socket that isn't in the file system and that nobody connects to. Processes in other network namespaces don't
/// see it, and a process of any user can take it, so it's a hint, no lock.
///
/// - Note: unix(7), "abstract".
package struct AbstractName: Sendable {
  private let descriptor: OwnedDescriptor

  /// Takes a name if no process has it.
  ///
  /// - Parameter bytes: The name; of a longer one than the kernel takes, the last bytes count.
  /// - Returns: The name, kept until it's released; `nil` if a process has it.
  /// - Throws: Any error of socket(2) and bind(2) but EADDRINUSE.
  package static func take(_ bytes: [UInt8]) throws(SystemError) -> AbstractName? {
    let descriptor = OwnedDescriptor(try checkedCall("socket(2)") { shim_local_socket() })
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // After the zero that distinguishes it from a path. The length of the address ends it, so no zero is needed behind
    // it.
    let name = bytes.suffix(MemoryLayout.size(ofValue: address.sun_path) - 1)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
      unsafe UnsafeMutableRawBufferPointer(rebasing: target[1...]).copyBytes(from: name)
    }
    let family = MemoryLayout.size(ofValue: address.sun_family)
    let length = socklen_t(family + 1 + name.count)
    do {
      try descriptor.checked("bind(2)") { number in
        unsafe withUnsafePointer(to: &address) { pointer in
          unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(number, $0, length) }
        }
      }
    } catch let error where error.isOne(of: EADDRINUSE) {
      return nil
    }
    return AbstractName(descriptor: descriptor)
  }

  /// Leaves the name to others.
  package func release() { descriptor.close() }
}
