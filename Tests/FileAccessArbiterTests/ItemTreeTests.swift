import CompactContainers
import SeededRandom
import Testing

@testable import FileAccessArbiter

@Suite("The tree of items")
struct ItemTreeTests {
  /// The expected contents of the tree, as a plain list.
  private struct Model {
    var claims: [(index: ItemTree.ClaimIndex, mode: LockMode, path: ItemPath)] = []
    var presenters: [(id: PresenterID, path: ItemPath)] = []

    func differences(from tree: borrowing ItemTree, _ paths: [ItemPath]) -> [String] {
      var found: [String] = []
      for path in paths {
        let claimsHere = claims.filter { $0.path == path }
        let claimsBelow = claims.count { path.isSameOrContains($0.path) }
        let presentersBelow = presenters.count { path.isSameOrContains($0.path) }
        guard let index = tree.node(at: path) else {
          if claimsBelow + presentersBelow > 0 { found.append("no node at \(path)") }
          continue
        }
        if claimsBelow + presentersBelow == 0, !path.isRoot { found.append("a useless node at \(path)") }
        let node = tree.branch(of: index)
        if Int(node.claimCountInSubtree) != claimsBelow {
          found.append("\(node.claimCountInSubtree) claims in \(path)")
        }
        if Int(node.presenterCountInSubtree) != presentersBelow { found.append("presenters in \(path)") }
        if Int(node.deepClaimCount) != claimsHere.count(where: { $0.mode == .deepWrite }) {
          found.append("\(node.deepClaimCount) deep claims at \(path)")
        }
        if Int(node.writeClaimCount) != claimsHere.count(where: { $0.mode != .read }) {
          found.append("\(node.writeClaimCount) writes at \(path)")
        }
        if tree.presenters(at: index) != presenters.filter({ $0.path == path }).map(\.id) {
          found.append("presenters at \(path)")
        }
        let isAlone = node.firstChild == ItemTree.none && claimsBelow + presentersBelow < 2
        if (tree.nodes[index].content == .branch) != (!isAlone || path.isRoot) {
          found.append("\(path) keeps its attachments as \(tree.nodes[index].content)")
        }
        var listed: [ItemTree.ClaimIndex] = []
        _ = tree.forEachClaim(at: index) { claim, _ in
          listed.append(claim)
          return true
        }
        if listed != claimsHere.map(\.index).reversed() { found.append("claims at \(path) are \(listed)") }
      }
      return found
    }
  }

  private static let paths: [ItemPath] = [
    "/", "/a", "/a/b", "/a/b/c", "/a/bb", "/a/k.pkg", "/a/k.pkg/x", "/b", "/b/c", "/b/c/d/e/f/g", "/ab",
  ]

  @Test("Counts and lists are exact after any attaching, detaching and moving", arguments: UInt64(1)...24)
  func againstAModel(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var tree = ItemTree(packageExtensions: ["pkg"])
    var model = Model()
    for step in 0..<150 {
      let path = random.pick(ItemTreeTests.paths)
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        let mode = random.pick([LockMode.read, .write, .deepWrite])
        model.claims.append((tree.attachClaim(access: AccessID(1), item: 0, mode: mode, at: path), mode, path))
      case 2 where !model.claims.isEmpty:
        let claim = model.claims.remove(at: Int.random(in: 0..<model.claims.count, using: &random))
        tree.detachClaim(claim.index)
      case 3 where !model.claims.isEmpty:
        var claim = model.claims.remove(at: Int.random(in: 0..<model.claims.count, using: &random))
        tree.reattachClaim(claim.index, at: path)
        claim.path = path
        model.claims.append(claim)
      case 4:
        _ = tree.attachPresenter(PresenterID(UInt64(step)), at: path)
        model.presenters.append((PresenterID(UInt64(step)), path))
      case 5 where !model.presenters.isEmpty:
        let presenter = model.presenters.remove(at: Int.random(in: 0..<model.presenters.count, using: &random))
        guard let node = tree.node(at: presenter.path) else {
          Issue.record("no node at \(presenter.path)")
          return
        }
        tree.detachPresenter(presenter.id, from: node)
      default: break
      }
      let differences = model.differences(from: tree, ItemTreeTests.paths)
      if !differences.isEmpty {
        Issue.record("seed \(seed), step \(step): \(differences)")
        return
      }
    }
  }

  @Test("Nothing is left when everything is detached, also after the table has grown")
  func growing() {
    var tree = ItemTree()
    let claims = (0..<1000).map {
      tree.attachClaim(access: AccessID(1), item: 0, mode: .read, at: ItemPath("/d\($0 % 10)/f\($0)"))
    }
    #expect(tree.nodes.count == 1011)
    #expect(tree.node(at: "/d7/f997").map { tree.path(of: $0) } == "/d7/f997")
    claims.forEach { tree.detachClaim($0) }
    #expect(tree.nodes.count == 1 && tree.claims.count == 0 && tree.branches.count == 1)
  }

  @Test(
    "C-009: A claim locks the outermost package around it",
    arguments: [
      ("/a/b", "/a/b"), ("/o.pkg", "/o.pkg"), ("/o.pkg/x", "/o.pkg"), ("/d/o.pkg/i.pkg/x", "/d/o.pkg"),
      ("/.pkg/x", "/.pkg/x"),
    ] as [(ItemPath, ItemPath)])
  func lockedItem(path: ItemPath, locked: ItemPath) {
    var tree = ItemTree(packageExtensions: ["pkg"])
    let node = tree.makeNode(at: path)
    #expect(tree.path(of: tree.lockNode(of: node)) == locked)
  }

  @Test("Visiting a subtree meets every worthy node once, parents first, and stops when told to")
  func visiting() {
    var tree = ItemTree()
    let paths: [ItemPath] = ["/a/b/c", "/a/d", "/a/b/e", "/b"]
    for path in paths { _ = tree.attachClaim(access: AccessID(1), item: 0, mode: .read, at: path) }
    guard let top = tree.node(at: "/a") else {
      Issue.record("no node")
      return
    }
    var met: [ItemPath] = []
    #expect(
      tree.forEachNode(inSubtreeOf: top, where: { _ in true }) { node in
        met.append(tree.path(of: node))
        return true
      })
    #expect(met.sorted() == ["/a", "/a/b", "/a/b/c", "/a/b/e", "/a/d"])
    for (index, path) in met.enumerated() { #expect(!met[..<index].contains { path.contains($0) }) }
    var count = 0
    #expect(
      !tree.forEachNode(inSubtreeOf: top, where: { _ in true }) { _ in
        count += 1
        return count < 2
      })
    #expect(count == 2)
  }
}
