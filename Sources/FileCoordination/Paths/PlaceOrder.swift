internal import SystemInterface

/// The orders of a ``PlaceCore``, carried out one after the other; each outcome is passed back before the next.
enum PlaceOrder: Hashable, Sendable {
  /// Note how many moves the library has made; if there are more when a place is registered, that is stale.
  case noteMoves
  /// Watch the names in a directory.
  case watch(SystemPath)
  case unwatch(NameWatch)
  /// Inspect the file at a path, whose directory is watched by now.
  case look(SystemPath)
  /// Check that names in a directory may be looked up.
  case checkSearchable(SystemPath)
  /// Keep a record that readers see without the core, of a path that leads from its spelled to its canonical form.
  case register(PlaceID, canonical: SystemPath, spelled: SystemPath)
  /// Mark the record of a place, and keep it no longer.
  case mark(PlaceID, PlaceMark)
  /// Check whether the record of a place is unmarked: the library marks what it moves without asking the core.
  case check(PlaceID)
  /// Find whether a place was requested since the last time.
  case takeUse(PlaceID)
  /// Take all changes of names until now. From here on until the end readers trust no record.
  case takeChanges
  /// Everything that the taken changes concern has been marked.
  case endChanges
}

/// Why a core doesn't keep a place any longer.
enum PlaceMark: Hashable, Sendable {
  /// A name on the way may have changed: the record may be wrong.
  case stale
  /// The place has made room for another one: later changes aren't noticed.
  case unwatched
}

/// The outcome of an order.
enum PlaceOutcome: Hashable, Sendable {
  case watched(Result<NameWatch, SystemError>)
  /// Absent for an error other than that nothing is there.
  case looked(NameNode.Kind?)
  case searchable(Bool)
  case checked(isKept: Bool)
  case used(Bool)
  case changes([NameChange])
  /// The order has no result.
  case done
}
