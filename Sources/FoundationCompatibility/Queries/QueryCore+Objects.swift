#if !canImport(ObjectiveC)
  internal import FileMetadata
  internal import Foundation

  // The results in the form that programs see.
  extension QueryCore {
    func forgetReplacements() {
      withState { state in
        state.discarded += state.objects.forgetReplacements()
        state.forgetLists()
      }
    }

    /// - Returns: The object at a position; `nil` if there's none.
    func object(at position: Int) -> Any? {
      let item = withState { state -> NSMetadataItem? in
        state.results.indices.contains(position) ? state.objects.object(for: state.results[position]) : nil
      }
      return item.map(replaced)
    }

    /// The object as which a result is handed out.
    func object(for file: MetadataItem) -> Any { replaced(item(for: file)) }

    private func item(for file: MetadataItem) -> NSMetadataItem { withState { $0.objects.object(for: file) } }

    func objects(of results: QueryResults) -> [Any] {
      withState { state in results.map { state.objects.object(for: $0) } }.map(replaced)
    }

    /// The object as which an item is handed out.
    func replaced(_ item: NSMetadataItem) -> Any {
      guard let query, let delegate = query.delegate else { return item }
      if let known = withState({ $0.objects.replacement(of: item) }) { return known }
      let object = delegate.metadataQuery(query, replacementObjectForResultObject: item)
      if type(of: object) is AnyClass, object as AnyObject === item { return item }
      return withState { state in
        // Another thread may have asked as well.
        if let known = state.objects.replacement(of: item) { return known }
        state.objects.replace(item, by: object)
        return object
      }
    }

    func position(of object: Any) -> Int? {
      let (id, replacements) = withState { state in
        ((object as? NSMetadataItem).flatMap(state.objects.id), state.objects.replacements)
      }
      let ids = id.map { [$0] } ?? replacements.filter { Self.areSame($0.value, object) }.map(\.key)
      if ids.isEmpty { return nil }
      let positions = positions
      return ids.compactMap { positions[$0] }.min()
    }

    private static func areSame(_ left: Any, _ right: Any) -> Bool {
      if type(of: left) is AnyClass, type(of: right) is AnyClass, left as AnyObject === right as AnyObject {
        return true
      }
      guard let left = left as? AnyHashable, let right = right as? AnyHashable else { return false }
      return left == right
    }

    private var positions: [MetadataItem.ID: Int] {
      cached(\.positions) { results in
        Dictionary(results.enumerated().map { ($0.element.id, $0.offset) }) { first, _ in first }
      }
    }

    /// Makes something of the results, once after each change; not under the lock.
    private func cached<Value>(
      _ place: WritableKeyPath<State, Cached<Value>?>, _ make: (QueryResults) -> Value
    ) -> Value {
      let (known, results, generation) = withState { ($0[keyPath: place], $0.results, $0.generation) }
      if let known { return known.value }
      let value = make(results)
      withState { state in
        if state.generation == generation { state[keyPath: place] = Cached(generation: generation, value: value) }
      }
      return value
    }
  }

  // MARK: - Values and groups

  extension QueryCore {
    var valueLists: [String: [NSMetadataQueryAttributeValueTuple]] {
      cached(\.valueLists) { results in
        var lists: [String: [NSMetadataQueryAttributeValueTuple]] = [:]
        for attribute in Set(configuration.valueListAttributes) {
          lists[attribute] = sections(Array(results), attribute).map { value, members in
            NSMetadataQueryAttributeValueTuple(attribute: attribute, value: value, count: members.count)
          }
        }
        return lists
      }
    }

    var groupedResults: [NSMetadataQueryResultGroup] {
      cached(\.groups) { results in
        groups(Array(results), (configuration.groupingAttributes ?? [])[...]) ?? []
      }
    }

    private func groups(
      _ results: [MetadataItem], _ attributes: ArraySlice<String>
    ) -> [NSMetadataQueryResultGroup]? {
      guard let attribute = attributes.first else { return nil }
      return sections(results, attribute).map { value, members in
        NSMetadataQueryResultGroup(
          attribute: attribute, value: value ?? NSNull(), subgroups: groups(members, attributes.dropFirst()),
          results: members.map(object))
      }
    }

    /// Results by their values of an attribute, in the order in which these come first.
    private func sections(_ results: [MetadataItem], _ attribute: String) -> [(value: Any?, members: [MetadataItem])] {
      var sections: [(value: Any?, members: [MetadataItem])] = []
      var places: [AnyHashable?: Int] = [:]
      for file in results {
        for value in values(of: file, attribute) {
          let key = value.map(Self.key)
          if let place = places[key] {
            sections[place].members.append(file)
          } else {
            places[key] = sections.count
            sections.append((value, [file]))
          }
        }
      }
      return sections
    }

    private static func key(_ value: Any) -> AnyHashable {
      (value as? AnyHashable) ?? AnyHashable(String(describing: value))
    }

    /// The values by which a result is counted, each once, after the delegate's replacement.
    private func values(of file: MetadataItem, _ attribute: String) -> [Any?] {
      guard let value = NSMetadataItem(file).value(forAttribute: attribute) else { return [nil] }
      let members: [Any] = (value as? [Any]) ?? [value]
      if members.isEmpty { return [nil] }
      var seen: Set<AnyHashable> = []
      let kept = members.map { replaced($0, attribute) }.filter { seen.insert(Self.key($0)).inserted }
      return kept
    }

    private func replaced(_ value: Any, _ attribute: String) -> Any {
      guard let query, let delegate = query.delegate else { return value }
      return delegate.metadataQuery(query, replacementValueForAttribute: attribute, value: value)
    }
  }
#endif
