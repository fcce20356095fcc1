extension Model {
  static let readerAndWriter = Model("a reader and a writer", [[.read(.file)], [.write(.file)]])
}
