// Values of the standard library. Everything is made of them: inlined, they cost a third of the time.

extension Bool: WireValue {
  @inline(__always)
  package func encode(into writer: inout WireWriter) { writer.append(integer: UInt8(self ? 1 : 0)) }
  @inline(__always)
  package init(from reader: inout WireReader) throws(WireError) { self = try reader.flag() }
}

extension Int32: WireValue {
  @inline(__always)
  package func encode(into writer: inout WireWriter) { writer.append(integer: self) }
  @inline(__always)
  package init(from reader: inout WireReader) throws(WireError) { self = try reader.integer() }
}

extension UInt32: WireValue {
  @inline(__always)
  package func encode(into writer: inout WireWriter) { writer.append(integer: self) }
  @inline(__always)
  package init(from reader: inout WireReader) throws(WireError) { self = try reader.integer() }
}

extension Int64: WireValue {
  @inline(__always)
  package func encode(into writer: inout WireWriter) { writer.append(integer: self) }
  @inline(__always)
  package init(from reader: inout WireReader) throws(WireError) { self = try reader.integer() }
}

extension UInt64: WireValue {
  @inline(__always)
  package func encode(into writer: inout WireWriter) { writer.append(integer: self) }
  @inline(__always)
  package init(from reader: inout WireReader) throws(WireError) { self = try reader.integer() }
}

extension String: WireValue {
  @inline(__always)
  package func encode(into writer: inout WireWriter) { writer.append(text: self) }
  @inline(__always)
  package init(from reader: inout WireReader) throws(WireError) { self = try reader.text() }
}

extension Optional: WireValue where Wrapped: WireValue {
  @inline(__always)
  package func encode(into writer: inout WireWriter) {
    writer.append(self != nil)
    if let self { writer.append(self) }
  }

  @inline(__always)
  package init(from reader: inout WireReader) throws(WireError) {
    self = try reader.flag() ? reader.read(Wrapped.self) : nil
  }
}

extension Array: WireValue where Element: WireValue {
  @inline(__always)
  package func encode(into writer: inout WireWriter) {
    writer.append(listCount: count)
    for element in self { writer.append(element) }
  }

  @inline(__always)
  package init(from reader: inout WireReader) throws(WireError) {
    let count = try reader.listCount()
    self.init()
    // Elements can be much smaller on the way than here: the reserved memory is bounded by the bytes, not by the count.
    reserveCapacity(Swift.min(count, reader.remainingByteCount / MemoryLayout<Element>.stride))
    for _ in 0..<count { append(try reader.read()) }
  }
}

extension Set<String>: WireValue {
  @inline(__always)
  package func encode(into writer: inout WireWriter) { writer.append(sorted()) }

  @inline(__always)
  package init(from reader: inout WireReader) throws(WireError) {
    let elements: [String] = try reader.read()
    for (element, next) in zip(elements, elements.dropFirst()) where element >= next {
      throw reader.error(.unorderedSet, "'\(next)' follows '\(element)' in a set")
    }
    self.init(elements)
  }
}
