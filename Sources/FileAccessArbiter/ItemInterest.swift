package struct ItemInterest: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }
  package static let blocksReading = ItemInterest(rawValue: 1)
  package static let blocksWriting = ItemInterest(rawValue: 2)
  package static let blocksReadingBelow = ItemInterest(rawValue: 4)
  package static let blocksWritingBelow = ItemInterest(rawValue: 8)
}
