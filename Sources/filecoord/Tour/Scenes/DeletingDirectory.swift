import FileCoordination
import FoundationEssentials

extension Scene {
  static let deletingDirectory = Scene("A directory is deleted when the readers inside are done") { stage in
    let near = try stage.makeFile("album/cover.txt", "cover")
    let deep = try stage.makeFile("album/2024/may/picture.txt", "picture")
    let album = stage.directory.appending(path: "album")
    let viewerMayLeave = Gate()
    let uploaderMayLeave = Gate()

    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await stage.coordinator("viewer").read(near) { _ in await viewerMayLeave.pass() } }
      group.addTask { try await stage.coordinator("uploader").read(deep) { _ in await uploaderMayLeave.pass() } }
      await stage.untilHolding(["viewer", "uploader"])
      stage.tell("viewer", "reads album/cover.txt.")
      stage.tell("uploader", "reads album/2024/may/picture.txt.")
      group.addTask { try await stage.coordinator("cleaner").delete(album) }
      let cleanerWaits = await stage.untilWaiting("cleaner", for: ["uploader", "viewer"])
      stage.tell("cleaner", "asks to delete album.")
      stage.claim("It waits for both, at any depth.", cleanerWaits && stage.exists(near) && stage.exists(deep))
      viewerMayLeave.open()
      await stage.untilWaiting("cleaner", for: ["uploader"])
      stage.tell("viewer", "is done. cleaner still waits for uploader.")
      stage.claim("Nothing is deleted yet.", stage.exists(near) && stage.exists(deep))
      uploaderMayLeave.open()
      stage.tell("uploader", "is done.")
      try await group.waitForAll()
      stage.claim("The album is gone.", !stage.exists(album))
    }
  }
}
