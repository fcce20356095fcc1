/// A value that can travel between processes.
///
/// `WireFormat` describes its form on the way.
package protocol WireValue {
  func encode(into writer: inout WireWriter)
  init(from reader: inout WireReader) throws(WireError)
}

/// The numbers that stand for the cases of one enum.
///
/// They are written out, so that the order in which cases are declared means nothing.
protocol WireTag: RawRepresentable where RawValue == UInt8 {}

/// An enum whose raw values are its tags.
protocol TaggedWireValue: WireValue, WireTag {}

extension TaggedWireValue {
  package func encode(into writer: inout WireWriter) { writer.append(integer: rawValue) }

  package init(from reader: inout WireReader) throws(WireError) {
    self = try reader.tag(of: Self.self)
  }
}

/// An enum of another module without values inside: each case has a tag, and is found by it.
protocol TagCorrespondent: WireValue, CaseIterable {
  associatedtype Tag: WireTag, Equatable

  /// The tag of the case.
  var tag: Tag { get }
}

extension TagCorrespondent {
  package func encode(into writer: inout WireWriter) { writer.append(tag: tag) }

  package init(from reader: inout WireReader) throws(WireError) {
    let tag = try reader.tag(of: Tag.self)
    guard let value = Self.allCases.first(where: { $0.tag == tag }) else {
      throw reader.error(.unknownTag, "\(tag.rawValue) stands for no case", back: 1)
    }
    self = value
  }
}
