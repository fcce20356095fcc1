extension Array {
  /// As short a list as leaving out parts makes, for which `failing` still gives one: delta debugging.
  ///
  /// - Parameter failing: The part of a list that is needed until the problem shows; `nil` if it doesn't.
  /// - Returns: The list.
  package func shrunk(_ failing: ([Element]) -> [Element]?) -> [Element] {
    var current = self
    var size = Swift.max(1, current.count / 2)
    while true {
      var isShorter = false
      var position = 0
      while position < current.count {
        var shorter = current
        shorter.removeSubrange(position..<Swift.min(position + size, shorter.count))
        if let found = failing(shorter), found.count < current.count {
          current = found
          isShorter = true
        } else {
          position += size
        }
      }
      if !isShorter, size == 1 { return current }
      if !isShorter { size /= 2 }
    }
  }
}
