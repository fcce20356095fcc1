public import Foundation

/// The files that workers share, and the directories that they are in, by number.
public enum HoldItems {
  public static let files = ["a/f", "a/g", "b/f", "b/g"]
  public static let directories = ["a", "b"]

  public static func directory(of file: Int) -> Int { files.count + file / 2 }

  /// Whether two items can't be held at once if one of them is written.
  public static func overlap(_ first: Int, _ second: Int) -> Bool {
    first == second || (first < files.count && directory(of: first) == second)
      || (second < files.count && directory(of: second) == first)
  }

  public static func url(of item: Int, in root: URL) -> URL {
    let name = item < files.count ? files[item] : directories[item - files.count]
    return root.appending(path: name)
  }
}
