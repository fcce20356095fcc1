#if !canImport(ObjectiveC)
  internal import Foundation
  internal import Glibc
  internal import SystemInterface

  /// A directory into which people's desktops put discarded items: version 1.0 of the trash specification of
  /// freedesktop.org.
  ///
  /// In `files` are the discarded items, and in `info`, under the same name with `.trashinfo` behind it, their places
  /// and times.
  struct Trash {
    /// How many names are tried for one item.
    static let nameCountMax = 10_000

    let directory: SystemPath
    /// The directory to which paths in `info` are relative; `nil` if they're absolute.
    let top: SystemPath?

    /// The user's own, for items on the volume of the home directory.
    static var home: Trash {
      let environment = ProcessInfo.processInfo.environment
      let home = FileManager.default.homeDirectoryForCurrentUser.path
      // A relative path is to be ignored, says the specification of base directories.
      let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.local/share"
      return Trash(directory: SystemPath(data + "/Trash"), top: nil)
    }

    /// The user's on the volume whose top is a directory.
    static func ofVolume(_ top: SystemPath) -> Trash {
      Trash(directory: top.appending(SystemPath(".Trash-\(geteuid())")), top: top)
    }

    /// Where an item is to be put: within its volume if possible, so that nothing has to be copied.
    static func place(for item: SystemPath) throws(SystemError) -> [Trash] {
      let files = HostFileSystem()
      let home = home
      let device = try files.status(of: item, at: .workingDirectory, links: .noFollow).device
      try files.makeDirectories(home.directory, mode: 0o700)
      if try files.status(of: home.directory, at: .workingDirectory, links: .follow).device == device { return [home] }
      var top = item.parent
      while top != SystemPath("/"),
        try files.status(of: top.parent, at: .workingDirectory, links: .noFollow).device == device
      {
        top = top.parent
      }
      return [ofVolume(top), home]
    }

    /// Moves an item here.
    ///
    /// - Parameter item: A canonical path.
    /// - Returns: Where it is now.
    /// - Throws: The error of the call that failed; the item is still where it was.
    func put(_ item: SystemPath) throws(SystemError) -> SystemPath {
      let files = HostFileSystem()
      try files.makeDirectories(directory, mode: 0o700)
      // At the top of a volume others may have made it, or a link, to see discarded items.
      let status = try files.status(of: directory, at: .workingDirectory, links: top == nil ? .follow : .noFollow)
      guard status.kind == .directory, status.owner == geteuid() else {
        throw SystemError(call: "trashItem", paths: [directory], errno: EPERM)
      }
      for name in ["files", "info"] { try files.makeDirectories(directory.appending(SystemPath(name)), mode: 0o700) }
      for count in 1...Self.nameCountMax {
        let name = SystemPath(bytes: Self.name(item.lastComponent.bytes, count))
        let info = directory.appending(SystemPath("info")).appending(
          SystemPath(bytes: name.bytes + Array(".trashinfo".utf8)))
        guard try reserve(info, for: item) else { continue }
        let target = directory.appending(SystemPath("files")).appending(name)
        do throws(SystemError) {
          try files.moveItem(from: item, to: target, replacing: false)
          return target
        } catch {
          // It's in the trash, where nobody could restore it without that file.
          if error.isChangeInPlace { return target }
          try? files.unlink(info, at: .workingDirectory, .file)
          if error.errno != EEXIST { throw error }
        }
      }
      throw SystemError(call: "trashItem", paths: [directory], errno: EEXIST)
    }

    /// `a.txt`, `a 2.txt`, `a 3.txt` …, never too long for a file of information.
    private static func name(_ name: [UInt8], _ count: Int) -> [UInt8] {
      let dot = name.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil } ?? name.endIndex
      let suffix = (count == 1 ? [] : Array(" \(count)".utf8)) + name[dot...].prefix(64)
      return Array(name[..<dot].prefix(255 - ".trashinfo".utf8.count - suffix.count)) + suffix
    }

    /// - Returns: Whether the name was free.
    private func reserve(_ info: SystemPath, for item: SystemPath) throws(SystemError) -> Bool {
      let files = HostFileSystem()
      let file: FileDescriptor
      do throws(SystemError) {
        file = try files.open(
          info, at: .workingDirectory, flags: [.create, .exclusive, .writeOnly], mode: 0o600)
      } catch {
        if error.errno == EEXIST { return false }
        throw error
      }
      defer { try? files.close(file) }
      do throws(SystemError) {
        var rest = Array(text(for: item).utf8)[...]
        while !rest.isEmpty { rest = rest.dropFirst(try files.write(file, rest)) }
        return true
      } catch {
        try? files.unlink(info, at: .workingDirectory, .file)
        throw error
      }
    }

    private func text(for item: SystemPath) -> String {
      var path = item.bytes
      if let top { path = Array(path.dropFirst(top == SystemPath("/") ? 1 : top.bytes.count + 1)) }
      let now = Calendar(identifier: .gregorian).dateComponents(
        [.year, .month, .day, .hour, .minute, .second], from: Date())
      func digits(_ number: Int?, _ count: Int) -> String {
        let text = String(number ?? 0)
        return String(repeating: "0", count: max(0, count - text.count)) + text
      }
      let date = "\(digits(now.year, 4))-\(digits(now.month, 2))-\(digits(now.day, 2))"
      let time = "\(digits(now.hour, 2)):\(digits(now.minute, 2)):\(digits(now.second, 2))"
      return "[Trash Info]\nPath=\(PercentEncoding.encode(path))\nDeletionDate=\(date)T\(time)\n"
    }
  }

  extension HostFileSystem {
    /// Makes a directory, and those around it, unless they're there.
    fileprivate func makeDirectories(_ path: SystemPath, mode: UInt32) throws(SystemError) {
      do throws(SystemError) {
        try makeDirectory(path, at: .workingDirectory, mode: mode)
      } catch {
        if error.errno == EEXIST { return }
        guard error.errno == ENOENT, path != path.parent else { throw error }
        try makeDirectories(path.parent, mode: mode)
        do throws(SystemError) { try makeDirectory(path, at: .workingDirectory, mode: mode) } catch
          where error.errno != EEXIST
        { throw error }
      }
    }
  }
#endif
