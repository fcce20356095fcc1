#if !canImport(ObjectiveC)
  internal import FileDocuments
  internal import FilePackages
  internal import Foundation
  internal import SystemInterface

  // Large files are read and written in pieces, and what's done so far is the document's progress.

  extension UIDocument {
    /// Comes from the thread that reads or writes; `nil` when that has ended.
    nonisolated func note(_ progress: DocumentProgress?) {
      let (known, hasChanged) = facts.withLock { facts -> (Progress?, Bool) in
        let former = facts.progress
        if let progress {
          facts.state.insert(.progressAvailable)
          facts.progress = former ?? Progress.discreteProgress(totalUnitCount: progress.totalByteCount)
        } else {
          facts.state.remove(.progressAvailable)
          facts.progress = nil
        }
        return (facts.progress, (former == nil) != (facts.progress == nil))
      }
      // Outside the lock: a progress tells others.
      if let known, let progress { known.completedUnitCount = progress.completedByteCount }
      if hasChanged { MainTurns.later { self.postStateChanged() } }
    }

    nonisolated func readData(at url: URL) throws -> Data {
      let (files, path) = (HostFileSystem(), url.systemPath)
      let status = try? files.status(of: path, at: .workingDirectory, links: .follow)
      guard let status, status.kind == .regular, status.size >= DocumentProgress.byteCountMin else {
        return try Data(contentsOf: url)
      }
      do throws(SystemError) {
        return Data(
          try files.contentsAndStatus(of: path, countMax: .max) { (count, size) throws(SystemError) in
            DocumentProgress.note(.reading, count, of: size) { note($0) }
          }.contents)
      } catch { throw PackageError(error, path).cocoaError(url, isReading: true) }
    }

    /// Writes a new file.
    nonisolated func write(_ data: Data, to url: URL) throws {
      let (files, size) = (HostFileSystem(), Int64(data.count))
      if size < DocumentProgress.byteCountMin { return try data.write(to: url, options: .withoutOverwriting) }
      do throws(SystemError) {
        try files.withDescriptor(url.systemPath, flags: [.create, .exclusive, .writeOnly], mode: 0o666) {
          (file) throws(SystemError) in
          var rest = data[...]
          while !rest.isEmpty {
            DocumentProgress.note(.writing, size - Int64(rest.count), of: size) { note($0) }
            let piece = rest.prefix(Self.pieceSize)
            try files.writeAll(Array(piece), to: file)
            rest = rest.dropFirst(piece.count)
          }
          DocumentProgress.note(.writing, size, of: size) { note($0) }
        }
      } catch { throw FileManager.cocoaError(error, url) }
    }

    private nonisolated static var pieceSize: Int { 1 << 20 }
  }
#endif
