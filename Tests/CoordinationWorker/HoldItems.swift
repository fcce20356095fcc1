package import Foundation

/// The files that workers share, and the directories that they are in, by number.
package enum HoldItems {
  package static let files = ["a/f", "a/g", "b/f", "b/g"]
  package static let directories = ["a", "b"]

  package static func directory(of file: Int) -> Int { files.count + file / 2 }

  /// Whether two items can't be held at once if one of them is written.
  package static func overlap(_ first: Int, _ second: Int) -> Bool {
    first == second || (first < files.count && directory(of: first) == second)
      || (second < files.count && directory(of: second) == first)
  }

  package static func url(of item: Int, in root: URL) -> URL {
    let name = item < files.count ? files[item] : directories[item - files.count]
    return root.appending(path: name)
  }
}
