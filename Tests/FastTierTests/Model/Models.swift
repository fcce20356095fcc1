import SeededRandom

extension Model {
  /// For a normal run, with all interleavings: at most thirty thousand states each.
  static let small: [Model] = [
    .twoWritersHostReader, .readerTwoHostWriters, .lateLook, .presenterAndWriter, .rebuild, .again, .handedOver,
    .writeHandedOver, .chain, .patientReader, .writerAfterWriter, .readerAndPatientWriter, .counterMates,
    .readerRegisters, .readerRegistersAndMove, .readerRegistersBesideTwo,
  ]

  /// For `FILE_COORDINATION_SEEDS=long`, with all interleavings: fifty to a hundred thousand states each.
  static let medium: [Model] = [
    .twoReadersOneWriter, .readerWriterHostWriter, .presenterOfDirectory, .twins, .rememberedAndRefused,
  ]

  /// For a normal run where loads may be stale, which takes longer.
  static let smallest: [Model] = [
    .readerTwoHostWriters, .again, .handedOver, .writerAfterWriter, .readerAndPatientWriter, .counterMates,
    .firstClaims,
    .smallTableAndPatientReader, .readerInMovedDirectory, .movedElsewhereWhileRead, .readerRegisters,
  ]

  /// For `FILE_COORDINATION_SEEDS=long`, with all interleavings.
  static let large: [Model] =
    [
      .readerTwoWriters, .deepWriter, .presenter, .snapshot, .nested, .announcement, .remembered, .patientWriter,
      .writersAfterWriters, .moveWithin, .adoptionGrows, .readerRegistersBesideReader, .readersRegister,
    ] + (Budget.isComplete ? tensOfMillions : [])

  /// For `FILE_COORDINATION_SEEDS=all`: a minute each, with all interleavings.
  private static let tensOfMillions: [Model] = [.twoReadersTwoWriters, .readersOfMates, .rememberedByTwo]

  /// For `FILE_COORDINATION_SEEDS=long`, with all interleavings and stale loads.
  static let largeWithMessages: [Model] = [
    .readerTwoWriters, .deepWriter, .presenter, .snapshot, .nested, .announcement, .remembered, .patientWriter,
  ]

  /// For few interruptions and stale loads: all interleavings have more than three million states.
  static let largestWithMessages: [Model] =
    Budget.isLong
    ? [
      .twoReadersTwoWriters, .writersAfterWriters, .readersOfMates, .moveWithin, .rememberedByTwo, .adoptionGrows,
      .deepWriterAmongThree,
    ] : [.writersAfterWriters]

  /// For interleavings with few interruptions, unless they are explored completely.
  static let largest: [Model] =
    [.deepWriterAmongThree] + (Budget.isComplete ? [] : Budget.isLong ? tensOfMillions : [.twoReadersTwoWriters])

  static let readerAndWriter = Model("a reader and a writer of one item", [[.read(.file)], [.write(.file)]])
  static let readerAndHostWriter = Model(
    "a reader, and a writer through the host", [[.read(.file)], [.hostWrite(.file)]])
  static let writerAndHostReader = Model(
    "a writer, and a reader through the host", [[.write(.file)], [.hostRead(.file)]])
  static let readerWriterHostWriter = Model(
    "a reader, a writer, and a writer through the host", [[.read(.file)], [.write(.file)], [.hostWrite(.file)]])
  static let readerTwoHostWriters = Model(
    "a reader, and two writers through the host", [[.read(.file)], [.hostWrite(.file)], [.hostWrite(.file)]])
  static let twoReadersOneWriter = Model(
    "two readers and a writer of one item", [[.read(.file)], [.read(.file)], [.write(.file)]])
  static let readerTwoWriters = Model(
    "a reader and two writers of one item", [[.read(.file)], [.write(.file)], [.write(.file)]])
  static let twoReadersTwoWriters = Model(
    "two readers and two writers of one item", [[.read(.file)], [.read(.file)], [.write(.file)], [.write(.file)]])
  static let twoWritersHostReader = Model(
    "two writers, and a reader through the host", [[.write(.file)], [.write(.file)], [.hostRead(.file)]])
  static let deepWriter = Model(
    "a directory is moved while files in it are read and written",
    [[.read(.file)], [.write(.sibling)], [.deepWrite(.directory)]])
  static let deepWriterAmongThree = Model(
    "a directory is moved while a file in it is read and written",
    [[.read(.file)], [.write(.file)], [.deepWrite(.directory)], [.read(.directory)]])
  static let presenter = Model(
    "a presenter registers while its item is read and written", [[.read(.file)], [.write(.file)], [.present(.file)]])
  static let presenterAndWriter = Model(
    "a presenter registers, and a writer claims through the host",
    [[.read(.file)], [.present(.file)], [.hostWrite(.file)]])
  static let presenterOfDirectory = Model(
    "a presenter of a directory registers while a file in it is read and written",
    [[.read(.file)], [.write(.file)], [.present(.directory)]])
  static let readerRegisters = Model(
    "a reader registers a presenter with the end of its claim, beside a writer",
    [[.readAndPresent(.file)], [.write(.file)]])
  static let readerRegistersBesideTwo = Model(
    "a reader registers a presenter with the end of its claim, beside a writer and one through the host",
    [[.readAndPresent(.file)], [.write(.file)], [.hostWrite(.file)]])
  static let readerRegistersBesideReader = Model(
    "a reader registers a presenter with the end of its claim, and uses its slot again, beside a reader and a writer",
    [[.readAndPresent(.file), .read(.file)], [.read(.file)], [.patient(.write(.file))]])
  static let readerRegistersAndMove = Model(
    "a reader registers a presenter with the end of its claim while its directory is moved, and a snapshot is taken",
    [[.readAndPresent(.file)], [.deepWrite(.directory)], [.snapshot]])
  static let readersRegister = Model(
    "two readers register presenters with the ends of their claims while the table of interests is replaced",
    [[.readAndPresent(.file)], [.readAndPresent(.file)], [.write(.file)]]
  ) { $0.interestCapacityMin = 1 }
  static let snapshot = Model(
    "a snapshot is taken meanwhile", [[.read(.file)], [.write(.file)], [.snapshot]])
  static let rebuild = Model(
    "the table of interests is replaced meanwhile", [[.read(.file)], [.hostWrite(.file)], [.present(.other)]]
  ) { $0.interestCapacityMin = 2 }
  /// The reader checks again after the writer has met it, which may be while the presenter makes the table larger.
  static let patientReader = Model(
    "a reader that was refused looks again while the table of interests is replaced",
    [[.patient(.read(.file))], [.hostWrite(.file)], [.present(.other)]]
  ) { $0.interestCapacityMin = 2 }
  static let patientWriter = Model(
    "a writer that was refused looks again while the table of interests is replaced",
    [[.patient(.write(.file))], [.hostRead(.file)], [.present(.other)]]
  ) { $0.interestCapacityMin = 2 }
  /// In a table of four entries both fingerprints would come to the same place.
  static let chain = Model(
    "one interest is behind another in the table",
    [[.present(.directory)], [.hostWrite(.stranger)], [.read(.stranger)]]
  ) { $0.interestCapacityMin = 4 }
  /// The first presenter makes writers check above, and record that nothing is there.
  static let remembered = Model(
    "a file is written twice while presenters register elsewhere and above it",
    [[.write(.file), .write(.file)], [.present(.other)], [.present(.directory)]]
  ) { $0.remembersPaths = true }
  /// The writer is challenged after it has looked above, which the move of another directory makes it do, and tries
  /// again while the move of its own is being decided.
  static let rememberedAndRefused = Model(
    "a writer that was refused tries again while its directory is moved after another",
    [[.patient(.write(.file))], [.nested(.deepWrite(.other), [.deepWrite(.directory)])]]
  ) { $0.remembersPaths = true }
  static let rememberedByTwo = Model(
    "a file is written by two while presenters register elsewhere and above it",
    [[.write(.file)], [.write(.file)], [.present(.other)], [.present(.directory)]]
  ) { $0.remembersPaths = true }
  static let nested = Model(
    "claims in claims", [[.nested(.read(.file), [.write(.other)])], [.write(.other)], [.hostWrite(.file)]]
  ) { $0.slotsPerShard = 2 }
  /// The reader looks at the file before the writer asks, and at the directory after the move: both times nothing is
  /// there.
  static let lateLook = Model(
    "a file is written through the host after its directory was moved",
    [[.read(.file)], [.deepWrite(.directory)], [.hostWrite(.file)]])
  static let announcement = Model(
    "the first claims of their threads", [[.read(.file)], [.write(.file)], [.hostWrite(.file)]]
  ) { $0.areShardsAnnounced = false }
  static let again = Model(
    "claims one after the other", [[.read(.file), .read(.other)], [.write(.other), .write(.file)]])
}

extension Model {
  static let handedOver = Model(
    "another thread ends a claim", [[.handOver(.read(.file), to: 2), .read(.file)], [.hostWrite(.file)], [.takeOver]])
  static let writeHandedOver = Model(
    "another thread ends a writer's claim",
    [[.handOver(.write(.file), to: 2), .write(.other)], [.read(.file)], [.takeOver]])
  static let twins = Model(
    "two items have the same fingerprint", [[.read(.file)], [.write(.twin)], [.hostWrite(.file)]])
  /// The first write keeps readers out, which the reader ends before or amid the second.
  static let writerAfterWriter = Model(
    "a file is written twice while it's read", [[.write(.file), .write(.file)], [.read(.file)]])
  static let writersAfterWriters = Model(
    "two write a file, one of them twice, while it's read twice",
    [[.write(.file), .write(.file)], [.read(.file), .read(.file)], [.write(.file)]])
  static let readerAndPatientWriter = Model(
    "a reader, and a writer that tries twice", [[.read(.file)], [.patient(.write(.file))]])
  /// The reader that the first write finds at the common counter is no obstacle to that write.
  static let counterMates = Model(
    "a file is read while another one with the same counter and then itself are written",
    [[.read(.file)], [.write(.mate), .write(.file)]])
  static let readersOfMates = Model(
    "two files with one counter are read and written",
    [[.read(.file), .write(.mate)], [.write(.file), .read(.mate)], [.patient(.write(.file))]])
  static let moveWithin = Model(
    "a directory is moved by somebody who reads in it meanwhile",
    [[.nested(.deepWrite(.directory), [.read(.file)])], [.read(.file)], [.write(.directory)]])
  static let adoptionGrows = Model(
    "the table of interests is replaced while claims are adopted",
    [[.read(.file)], [.write(.sibling)], [.deepWrite(.directory)]]
  ) { $0.interestCapacityMin = 1 }
}

// Two threads each, for what takes no more.
extension Model {
  static let firstClaims = Model("the first claims of two threads", [[.read(.file)], [.write(.file)]]) {
    $0.areShardsAnnounced = false
  }
  static let firstClaimAndHostWriter = Model(
    "the first claim of a thread, and a writer through the host", [[.read(.file)], [.hostWrite(.file)]]
  ) { $0.areShardsAnnounced = false }
  static let smallTable = Model(
    "the table of interests is replaced by a writer through the host", [[.read(.file)], [.hostWrite(.file)]]
  ) { $0.interestCapacityMin = 1 }
  static let smallTableAndPatientReader = Model(
    "a reader that was refused looks again while the writer through the host replaces the table of interests",
    [[.patient(.read(.file))], [.hostWrite(.file)]]
  ) { $0.interestCapacityMin = 1 }
  static let smallTableAndWriter = Model(
    "the table of interests is replaced by a reader through the host", [[.write(.file)], [.hostRead(.file)]]
  ) { $0.interestCapacityMin = 1 }
  static let rememberedTwice = Model(
    "a file is written twice while its directory is moved after another",
    [[.write(.file), .write(.file)], [.nested(.deepWrite(.other), [.deepWrite(.directory)])]]
  ) { $0.remembersPaths = true }
  static let readerInMovedDirectory = Model(
    "a directory is moved while a file in it is read", [[.read(.file)], [.deepWrite(.directory)]])
  static let writerInMovedDirectory = Model(
    "a directory is moved while a file in it is written", [[.write(.file)], [.deepWrite(.directory)]])
  /// The move looks at all claims, those elsewhere too.
  static let movedElsewhereWhileRead = Model(
    "a file is read twice while a directory elsewhere is moved", [[.read(.file), .read(.file)], [.deepWrite(.other)]])
  static let movedElsewhereWhileWritten = Model(
    "a file is written twice while a directory elsewhere is moved",
    [[.write(.file), .write(.file)], [.deepWrite(.other)]])
  /// Three items with interest need a large table, none a small one.
  static let shrinkingTable = Model(
    "the table of interests grows and shrinks while a file is read",
    [[.read(.file)], [.nested(.deepWrite(.other), [.nested(.deepWrite(.directory), [.deepWrite(.sibling)])])]]
  ) { $0.interestCapacityMin = 1 }
  /// The slot of the first read is used again.
  static let slotUsedAgain = Model(
    "a slot is used for one item after the other", [[.read(.file), .read(.other)], [.write(.file)]])
  static let slotUsedAgainAndHostWriter = Model(
    "a slot is used for one item after the other, the first of which is written through the host",
    [[.read(.file), .read(.other)], [.hostWrite(.file)]])
  static let slotLooksAgain = Model(
    "a slot shows a look after a claim", [[.read(.file), .patient(.write(.other))], [.write(.file)], [.read(.other)]])
  static let secondSlot = Model(
    "the first claim in a second slot", [[.nested(.read(.other), [.read(.file)])], [.write(.file)]]
  ) {
    $0.slotsPerShard = 2
    $0.areShardsAnnounced = false
  }
  /// The move looks at claims that it doesn't concern, and that end meanwhile.
  static let lookedAt = Model(
    "a file is read and written while a directory elsewhere is moved",
    [[.read(.file)], [.write(.file)], [.deepWrite(.other)]])
  static let shrinkingTableAndWriter = Model(
    "the table of interests grows and shrinks while a file is written",
    [[.write(.file)], [.nested(.deepWrite(.other), [.nested(.deepWrite(.directory), [.deepWrite(.sibling)])])]]
  ) { $0.interestCapacityMin = 1 }
  /// The writer's shard is announced before its second claim, the reader's perhaps not.
  static let lateHighShard = Model(
    "the first claim of a thread behind all others", [[.write(.other), .write(.file)], [.read(.file)]]
  ) { $0.areShardsAnnounced = false }
  static let lateLowShard = Model(
    "the first claim of a thread before others", [[.read(.file)], [.write(.other), .write(.file)]]
  ) { $0.areShardsAnnounced = false }
  static let lateLowShardAndHostWriter = Model(
    "the first claim of a thread before one that writes through the host",
    [[.read(.file)], [.write(.other), .hostWrite(.file)]]
  ) { $0.areShardsAnnounced = false }
  static let writerInRememberedDirectory = Model(
    "a file is written while its directory is moved after another",
    [[.write(.file)], [.nested(.deepWrite(.other), [.deepWrite(.directory)])]]
  ) { $0.remembersPaths = true }
  static let movedByItsReader = Model(
    "a directory is moved by somebody who has read in it, and who writes at the same time",
    [[.read(.file), .nested(.write(.stranger), [.deepWrite(.directory)])], [.read(.file)]]
  ) { $0.slotsPerShard = 2 }
}
