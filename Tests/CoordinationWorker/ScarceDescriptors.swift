import Glibc

/// Lets a process have too few descriptors for a while.
struct ScarceDescriptors {
  private var taken: [Int32] = []
  private let usualLimit: rlimit

  init() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    usualLimit = limit
  }

  func limit(to count: Int) {
    var limit = usualLimit
    limit.rlim_cur = rlim_t(count)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// From now on every call that makes a descriptor fails with EMFILE.
  mutating func exhaust() {
    let next = open("/dev/null", O_RDONLY | O_CLOEXEC)
    // Some more than there are, so that the limit counts and not the number of descriptors that are open by chance.
    limit(to: Int(next) + 64)
    taken = next < 0 ? [] : [next]
    while true {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      if descriptor < 0 { return }
      taken.append(descriptor)
    }
  }

  /// From now on there are so many left.
  mutating func leave(_ count: Int) {
    exhaust()
    for descriptor in taken.suffix(count) { close(descriptor) }
    taken.removeLast(min(count, taken.count))
  }

  mutating func release() {
    for descriptor in taken { close(descriptor) }
    taken = []
    limit(to: Int(usualLimit.rlim_cur))
  }
}
