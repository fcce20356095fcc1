import MetadataPredicates
import Testing

/// Texts that cover every production of the grammar, with the arguments they need.
enum ValidFormats {
  struct Sample: Sendable, CustomTestStringConvertible {
    let text: String
    let arguments: [MetadataValue]
    var testDescription: String { text }
  }

  static let all: [Sample] =
    plain.split(separator: "\n").map { Sample(text: String($0), arguments: []) }
    + withArguments.map { Sample(text: $0.0, arguments: $0.1) }
    + withLineBreaks.map { Sample(text: $0, arguments: []) }

  /// One in each line.
  private static let plain = #"""
    TRUEPREDICATE
    FALSEPREDICATE
    truepredicate
    (TRUEPREDICATE)
    NOT FALSEPREDICATE
    !FALSEPREDICATE
    ! TRUEPREDICATE
    NOT NOT TRUEPREDICATE
    a == 1
    a = 1
    a != 1
    a <> 1
    a < 1
    a <= 1
    a =< 1
    a > 1
    a >= 1
    a => 1
    a==1
    a BETWEEN {1, 3}
    a between { 1 , 3 }
    a IN {1, 2, 3}
    a IN {}
    a CONTAINS 'x'
    a BEGINSWITH "x"
    a ENDSWITH 'x'
    a LIKE 'x*?y'
    a MATCHES '.*b.*'
    a TOKENMATCHES 'two words'
    a UTI-CONFORMS-TO 'public.image'
    a UTI-EQUALS 'public.png'
    a uti-conforms-to 'public.image'
    a ==[c] 'x'
    a ==[cd] 'x'
    a ==[dc] 'x'
    a ==[CD] 'x'
    a ==[n] 'x'
    a <[l] 'x'
    a CONTAINS[w] 'x'
    a LIKE[cdl] 'x'
    a ==[ccdd] 'x'
    a MATCHES[c] 'x+'
    ANY tags == 'x'
    SOME tags == 'x'
    ALL tags == 'x'
    NONE tags == 'x'
    any tags.name BEGINSWITH[c] 'x'
    ALL a.b IN {1, 2}
    ANY {1, 2} == a
    NOT ANY tags == 'x'
    a == 1 AND b == 2
    a == 1 && b == 2
    a == 1 and b == 2
    a == 1 OR b == 2
    a == 1 || b == 2
    a == 1 AND b == 2 AND c == 3
    a == 1 OR b == 2 OR c == 3
    a == 1 OR b == 2 AND c == 3
    (a == 1 OR b == 2) AND c == 3
    a == 1 AND (b == 2 AND c == 3)
    NOT a == 1 AND b == 2
    NOT (a == 1 AND b == 2)
    !(a == 1 || b == 2)
    ((a == 1))
    (a) == 1
    ((a)) == ((1))
    (self) ** 2 * 2 == 18
    (a + 1) * 2 == 4
    ((a + 1) * 2 == 4) AND b == 1
    (a == 1) AND (b) == 2
    a + b == 3
    a - b - c == 3
    a - (b - c) == 3
    a * b + c / d == 3
    a * (b + c) == 3
    2 ** 3 ** 2 == 512
    (2 ** 3) ** 2 == 64
    -a == 1
    - a == 1
    --a == 1
    -(a + b) == 1
    -1 == a
    -1.5 == a
    -(1) == a
    -2 ** 2 == 4
    3 - -2 == 5
    a ** -2 == 0.25
    a UNION {1} == b
    {1, 2} UNION {2, 3} == a
    {1, 2} INTERSECT {2, 3} == a
    {1, 2} MINUS {2, 3} == a
    a union b minus c intersect d == e
    a UNION (b MINUS c) == e
    $x == 3
    $x.name == 'a'
    $x.a.b.@count == 2
    $x := 3 == a
    a == $y := 4
    ($x := 3) + 1 == 4
    SELF == 3
    self.name == 'a'
    SELF.a.b == 1
    a.SELF.b == 1
    SELF IN {1, 2}
    ANYKEY == 'x'
    ANYKEY CONTAINS[cd] 'x'
    a == nil
    a == NIL
    a == NULL
    a != null
    flag == TRUE
    flag == YES
    flag == FALSE
    flag == NO
    YES == 1
    a.b.c == 1
    a.b.@count == 2
    @count == 2
    @max.x == 2
    items.@sum.price > 10
    items.@avg.price > 10
    items.@min.price > 10
    items.@max.price.amount > 10
    items.@unionOfObjects.k == {1}
    items.@distinctUnionOfObjects.k == {1}
    items.@unionOfArrays.k == {1}
    items.@distinctUnionOfArrays.k == {1}
    items.@unionOfSets.k == {1}
    items.@distinctUnionOfSets.k == {1}
    tags[FIRST] == 'x'
    tags[LAST] == 'x'
    tags[SIZE] == 2
    tags[first] == 'x'
    tags[0] == 'x'
    tags[a + 1] == 'x'
    tags[(first)] == 'x'
    tags[first.x] == 'x'
    dict['key'] == 'x'
    tags[0].name == 'x'
    tags[0][1].a.b[LAST] == 'x'
    (a.b).c == 1
    {1, 2}[FIRST] == 1
    {} [FIRST] == 1
    #first == 1
    #and == 1
    a.#in == 1
    #size > 3
    #"two words" == 1
    a.#"b.c" == 1
    first == 1
    size >= 10 AND size <= 20
    grösse == 1
    名前 == 'x'
    _a1 == 1
    a == 0x1F
    a == 0o17
    a == 0b101
    a == 1.5
    a == 1.5e3
    a == 1e3
    a == 1E-3
    a == 9223372036854775807
    a == -9223372036854775808
    a == ''
    a == "it's"
    a == 'say "x"'
    a == '\x41\102\u0043'
    a == '\a\b\f\n\r\t\v\\\'\"\?'
    a == '\u00e9'
    a == '\ud83d\ude00'
    a == '%@ %K $name'
    a CONTAINS %%
    a LIKE '\\?'
    {1, 'two', {3, 4}} == a
    sum(a) == 6
    sum:(a) == 6
    sum({1, 2, 3}) == 6
    max(1, a, 3) == 3
    count(a) == 2
    average(a) == 1
    median(a) == 1
    mode(a) == 1
    (flags & 4) == 4
    flags & 4 == 4
    a | b & c ^ d == 0
    a << 2 >> 1 == ~a
    ~~a == -~a
    1 + 2 << 3 * 4 < 5
    a&b==1&&c|d==2||e^f==3
    (a & 1) == 1 AND (b | 2) > 0
    stddev(a) == 0
    add:to:(1, 2) == 3
    add(1, 2) == 3
    from:subtract:(5, 2) == 3
    multiply:by:(5, 3) == 15
    divide:by:(a, b) == 1
    modulus:by:(7, 4) == 3
    raise:toPower:(2, a) == 8
    sqrt(a) == 3
    now() > a
    now(-3600) > a
    random() < 1
    randomn(6) < 6
    bitwiseAnd:with:(flags, 4) == 4
    onesComplement(a) == -1
    castObject:toType:(a, 'NSNumber') == 1
    objectFrom:withIndex:(a, 0) == 1
    length(name) > 3
    uppercase(name) == 'A'
    noindex(name) == 'a'
    today(-1) < a AND thisWeek() < a
    FUNCTION(a, 'uppercase:') == 'A'
    FUNCTION(a, 'add:to:', 2) == 4
    FUNCTION(a, 'lowercase:').length == 4
    SUBQUERY(items, $i, $i.price > 5).@count > 1
    SUBQUERY(items, $i, SUBQUERY($i.parts, $p, $p.n > $i.n).@count > 0)[SIZE] > 1
    subquery(items, $i, $i == 1 OR $i == 2).@count == 0
    TERNARY(a > 1, 'x', 'y') == 'x'
    CAST(0, 'NSDate') == a
    CAST(1.5, "NSDate") == a
    CAST((0), 'NSDate') == a
    CAST('12', 'NSNumber') == 12
    CAST('0aff', 'NSData') == a
    CAST({1, 2}, 'NSSet') == a
    CAST({1, {2}}, 'NSArray') == a
    CAST({'a', 1, 'b', {2}}, 'NSDictionary') == a
    CAST(a, 'Date') == b
    CAST(CAST(a, 'NSString'), 'NSNumber') == b
    """#

  private static let withArguments: [(String, [MetadataValue])] = [
    ("a == %@", ["x"]), ("a == %@", [3]), ("a == %@", [3.5]), ("a == %@", [nil]), ("a == %@", [true]),
    ("a == %@", [.date(MetadataDate(secondsSince2001: 12.5))]), ("a == %@", [.data([0, 255])]),
    ("a IN %@", [[1, "two", [3, 4]]]), ("a == %@", [["k": 1, "l": [2]]]), ("a == %@", [.set([1, 2, "x"])]),
    ("%K == %@", ["a.b", 1]), ("%K == 1", ["two words"]), ("%K == 1", ["in.first.@count"]), ("a.%K.c == 1", ["b"]),
    ("%K.@count == %d", ["tags", 2]), ("a == %d", [1]), ("a == %i", [1]), ("a == %u", [1]), ("a == %x", [31]),
    ("a == %X", [31]), ("a == %o", [8]), ("a == %O", [8]), ("a == %D", [1]), ("a == %U", [1]), ("a == %f", [1.5]),
    ("a == %e", [1.5]), ("a == %E", [1.5]), ("a == %g", [1.5]), ("a == %G", [1.5]), ("a == %c", [65]),
    ("a == %C", [65]), ("a == %ld", [1]), ("a == %lld", [1]), ("a == %lu", [1]), ("a == %hd", [1]), ("a == %qi", [1]),
    ("a == %zu", [1]), ("a == %llx", [1]), ("a LIKE[c] %@", ["*x*"]), ("a BETWEEN %@", [[1, 3]]),
    ("a == %@ AND b == %@ OR %K < %d", [1, "x", "k", 4]), ("SUBQUERY(%K, $i, $i == %@).@count == %d", ["a", 1, 2]),
    ("a == %@", ["quote \" backslash \\ line\nend\u{1}"]), ("a == '%%'", []),
  ]

  private static let withLineBreaks = ["a\n==\r\n1\tAND\u{A0}b == 2", "\n a == 1 \n"]
}
