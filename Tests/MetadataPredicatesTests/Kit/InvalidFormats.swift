import MetadataPredicates
import Testing

/// Texts that must be refused.
///
/// `¦` stands before the first token that can't stand there and isn't part of the text.
enum InvalidFormats {
  struct Sample: Sendable, CustomTestStringConvertible {
    let text: String
    let offset: Int
    let arguments: [MetadataValue]
    var testDescription: String { text }

    init(_ marked: String, _ arguments: [MetadataValue] = []) {
      let parts = marked.split(separator: "¦", maxSplits: 1, omittingEmptySubsequences: false)
      text = parts.joined()
      offset = parts[0].utf8.count
      self.arguments = arguments
    }
  }

  static let all: [Sample] =
    plain.split(separator: "\n").map { Sample(String($0)) } + withArguments.map { Sample($0.0, $0.1) }
    + [Sample("¦"), Sample("   ¦"), Sample("a ==\n\n¦")]

  private static let plain = #"""
    ¦?
    a == ¦?
    a ==¦
    a¦
    ¦== 1
    ¦AND a == 1
    a == 1 AND¦
    a == 1 ¦b == 2
    a == 1 AND ¦OR b == 2
    a == 1 OR ¦AND b == 2
    a ¦AND b == 1
    a == 1 AND b¦
    NOT¦
    !¦
    NOT a¦
    NOT ¦AND
    a ¦NOT == 1
    (a == 1¦
    a == 1¦)
    (a¦
    (a)¦
    ((a) ¦AND b == 1)
    (a == 1) ¦+ 2 == 3
    (a == 1) ¦== 1
    (a == 1)¦.b == 1
    (a == 1)¦[0] == 1
    (¦) == 1
    a == (b ¦== 1)
    a == (1¦
    a == {1, 2¦
    a == {1 ¦2}
    a == {1,¦}
    a == {¦,1}
    a == {(b ¦== 1)}
    a == 1 ¦== 2
    a < b ¦< c
    a == ¦= 1
    a & b¦
    a == 1 & b ¦== 2
    a == 1 | b ¦== 2
    a &¦
    a & ¦& b
    a == ~¦
    a == 1 <<¦
    a ¦~ b == 1
    ~a¦
    a ¦~ 1
    a == 1¦;
    a ¦' == 1
    a == ¦'x
    a == ¦"x
    a == "x¦\u12"
    a == '¦\xg'
    a == 'x' ¦'y'
    a == 'x' ¦"y"
    a ==[¦] 'x'
    a ==[¦x] 'x'
    a ==[¦cx] 'x'
    a ==[c ¦d] 'x'
    a ==[¦1] 'x'
    a ==[c ¦'x'
    a LIKE¦
    a LIKE[c] ¦*x*
    a ¦LIKES 'x'
    a ¦BEGINS 'x'
    a IN¦
    a BETWEEN¦
    a MATCHES ¦'('
    a MATCHES ¦'['
    a MATCHES ¦'*a'
    a MATCHES ¦'a**+'
    a MATCHES ¦'(a)\\1'
    a MATCHES ¦'(?=a)b'
    a MATCHES ¦'a{3,2}'
    a MATCHES ¦'\\p{Nonsense}'
    ANY¦
    ANY tags¦
    ANY ¦ANY tags == 1
    a == ¦ANY b
    ANY (tags ¦== 'x')
    ALL ¦NOT a == 1
    a == ¦AND
    ¦IN {1}
    ¦IN == 1
    a.¦in == 1
    a.¦1 == 1
    a. ¦== 1
    a.¦.b == 1
    a.¦'b' == 1
    ¦.a == 1
    a.¦@nope == 1
    ¦@nope == 1
    a ¦@isNear: b
    ¦@ == 1
    ¦$ == 1
    ¦$1 == 1
    ¦# == 1
    ¦#1 == 1
    #¦'x == 1
    a[¦] == 1
    a[1 ¦2] == 1
    a[1¦
    a[¦== 1
    a == ¦1x
    a == ¦0xZ
    a == ¦0b2
    a == ¦12abc
    a == ¦99999999999999999999
    a == ¦9223372036854775808
    a == ¦1e999
    a == ¦-9223372036854775809
    a == ¦0x10000000000000000
    a + ¦== 1
    a == ¦+ 1
    a == 1 +¦
    a == ¦* 2
    a == 2 **¦
    a ¦% 2 == 1
    a == -¦
    ¦nothing(a) == 1
    ¦sums(a) == 1
    ¦sqrt() == 1
    ¦add(1) == 1
    ¦add:to:(1, 2, 3) == 1
    ¦now(1, 2) == 1
    sum(a ¦== 1
    sum(a,¦) == 1
    sum(a ¦== 1) == 1
    sum: ¦== 1
    a.¦sum(b) == 1
    FUNCTION(a, ¦'performSelector:') == 1
    FUNCTION(a, ¦'retain') == 1
    FUNCTION(a¦) == 1
    FUNCTION(a, ¦b) == 1
    FUNCTION ¦== 1
    FUNCTION(¦) == 1
    ¦FETCH(a, b) == 1
    CAST(a, ¦'NSWindow') == 1
    CAST(a, ¦b) == 1
    CAST(a¦) == 1
    CAST(¦, 'NSDate') == 1
    SUBQUERY(items, ¦i, TRUEPREDICATE) == 1
    SUBQUERY(items, $i, $i¦) == 1
    SUBQUERY(items, $i¦) == 1
    SUBQUERY(items¦) == 1
    SUBQUERY(items, $i, $i == 1 ¦== 1
    TERNARY(a¦, 1, 2) == 1
    TERNARY(a == 1, 2¦) == 1
    TERNARY(a > 1 AND b¦, 'x', 'y') == 1
    TRUEPREDICATE2¦
    TRUEPREDICATE ¦== 1
    a == ¦TRUEPREDICATE
    TRUEPREDICATE ¦TRUEPREDICATE
    a == 1 ¦garbage
    a == 1 ¦:= 2
    1 ¦:= 2
    a == ¦%
    a ¦≥ 1
    a == ¦“x”
    #'it' ¦'s' == 1
    ¦/ comment
    """#

  private static let withArguments: [(String, [MetadataValue])] = [
    ("a == ¦%@", []), ("a == %@ AND b == ¦%@", [1]), ("a == %@¦", [1, 2]), ("a == '%@'¦", ["x"]),
    ("a LIKE[c] '*%@*'¦", ["x"]), ("¦%K == 1", [3]), ("¦%K == 1", [""]), ("¦%K == 1", ["a..b"]), ("a == ¦%d", ["x"]),
    ("a == ¦%@", [.real(.nan)]), ("a == ¦%@", [[.real(.infinity)]]), ("a == ¦%k", [1]), ("a == ¦%hf", [1]),
    ("a MATCHES ¦%@", ["("]),
  ]
}
