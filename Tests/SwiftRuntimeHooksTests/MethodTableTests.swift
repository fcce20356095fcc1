import Testing

@testable import SwiftRuntimeHooks

@Suite("Which methods a class has overridden")
struct MethodTableTests {
  private static let table = MethodTable(of: Base.self, silent: Silent.self, overriding: Overriding.self, count: 2)

  @Test(
    "an override is found, also an inherited one and that of a generic class",
    arguments: [
      (Silent.self, [false, false]), (First.self, [true, false]), (Second.self, [true, true]),
      (Generic<Int>.self, [false, true]), (Special.self, [false, true]), (Other.self, [false, false]),
    ] as [(Base.Type, [Bool])])
  func overrides(type: Base.Type, expected: [Bool]) throws {
    let table = try #require(Self.table)
    #expect([0, 1].map { table.isOverridden($0, in: type) } == expected)
  }

  @Test("a table that isn't what was expected isn't used")
  func unexpected() {
    #expect(MethodTable(of: Base.self, silent: Silent.self, overriding: Overriding.self, count: 3) == nil)
    #expect(MethodTable(of: Base.self, silent: Silent.self, overriding: Silent.self, count: 2) == nil)
  }
}

class Base {
  var number = 0
  func first() -> Int { 1 }
  func second() async -> Int { 2 }
  func third() -> Int { 3 }
}

class Silent: Base {}

class Overriding: Base {
  override func first() -> Int { 10 }
  override func second() async -> Int { 20 }
}

class First: Base {
  var more = "more"
  override func first() -> Int { super.first() + number }
}

final class Second: First {
  override func second() async -> Int { await super.second() }
}

class Generic<Value>: Base {
  var value: Value?
  override func second() async -> Int { 5 }
}

final class Special: Generic<String> {}

final class Other: Base {
  override func third() -> Int { 4 }
}
