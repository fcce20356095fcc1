package import SystemInterface

/// The events of two names that change places in one step: each goes where the other one was, one after the other.
///
/// The events of two names that change places equal those of one file that's renamed there and back: look at both
/// names.
package struct ExchangeEvents {
  package struct Place: Equatable {
    package let watch: WatchID
    package let name: SystemPath
  }

  package let first: Place
  package let second: Place
  /// How many events say so; those in between say of directories that they were moved.
  package let count: Int

  /// - Returns: `nil` if the first events say something else.
  package init?(_ events: ArraySlice<WatchEvent>) {
    guard case .name(_, _, .departed, isDirectory: _)? = events.first else { return nil }
    var steps: [(place: Place, action: WatchEvent.Action)] = []
    var count = 0
    for event in events {
      if steps.count == 4 { break }
      count += 1
      switch event {
      case .name(let watch, let name, let action, isDirectory: _):
        steps.append((Place(watch: watch, name: name), action))
      case .itemMoved: break
      default: return nil
      }
    }
    guard steps.count == 4, case .departed(let there) = steps[0].action, steps[1].action == .arrived(there),
      case .departed(let back) = steps[2].action, steps[3].action == .arrived(back),
      steps[0].place == steps[3].place, steps[1].place == steps[2].place
    else { return nil }
    (first, second, self.count) = (steps[0].place, steps[1].place, count)
  }
}
