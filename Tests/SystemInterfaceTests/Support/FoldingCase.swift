@testable import SystemInterface

extension ScriptedFileSystem {
  /// A door through which all directories fold the case of ASCII letters, as ext4 can with `casefold`, and FAT does.
  ///
  /// A name is looked up in the spelling that its directory has; so rename(2) of a file to another spelling of its name
  /// renames it to its own name, which does nothing, as in the kernel.
  static func foldingCase(_ base: any FileSystem = HostFileSystem()) -> ScriptedFileSystem {
    let files = HostFileSystem()
    return ScriptedFileSystem(base) { call in
      if call.paths.isEmpty { return .proceed }
      return .redirect(
        call.paths.indices.map { index in
          // The contents of a symbolic link aren't looked up.
          if call.call == .makeSymbolicLink && index == 0 { return call.paths[index] }
          return files.storedSpelling(of: call.paths[index], at: call.directories[index])
        })
    }
  }
}

extension HostFileSystem {
  fileprivate func storedSpelling(of path: SystemPath, at directory: FileDescriptor) -> SystemPath {
    var found = path.isAbsolute ? SystemPath.root : SystemPath("")
    for component in path.bytes.split(separator: UInt8(ascii: "/")) {
      found = found.appending(storedName(SystemPath(bytes: component), in: found, at: directory))
    }
    return path.bytes.isEmpty ? path : found
  }

  private func storedName(_ name: SystemPath, in place: SystemPath, at directory: FileDescriptor) -> SystemPath {
    // Nearly every name is there as it's spelled: reading its directory takes many times as long.
    let path = place.bytes.isEmpty ? name : place.appending(name)
    if (try? status(of: path, at: directory, links: .noFollow)) != nil { return name }
    let place = place.bytes.isEmpty ? SystemPath(".") : place
    let names = try? withDescriptor(place, at: directory, flags: .directory) { (opened) throws(SystemError) in
      var names: [SystemPath] = []
      while let batch = try readDirectory(opened) { names += batch.map(\.name) }
      return names
    }
    guard let names, !names.contains(name) else { return name }
    return names.first { $0.folded == name.folded } ?? name
  }
}

extension SystemPath {
  fileprivate var folded: [UInt8] {
    bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }
}
