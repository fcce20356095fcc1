/// Which uniform type identifiers are kinds of others.
///
/// - Note: Rule P53.
public struct UniformTypeTree: Hashable, Sendable {
  /// For each type, in small letters, the types that it's directly a kind of.
  private var parents: [String: [String]]

  /// An empty tree of its own.
  public init() { parents = [:] }

  private init(_ lines: String) {
    self.init()
    for line in lines.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      for type in words.dropFirst() { declare(type, conformsTo: [words[0]]) }
    }
  }

  /// Declares the types that a type is a kind of, besides those declared before.
  ///
  /// - Parameters:
  ///   - type: The identifier; case doesn't matter.
  ///   - others: The types that it's directly a kind of.
  public mutating func declare(_ type: String, conformsTo others: [String]) {
    parents[type.lowercased(), default: []] += others.map { $0.lowercased() }
  }

  /// Whether a type is another one, or a kind of it.
  ///
  /// - Parameters:
  ///   - type: The identifier of a type; case doesn't matter.
  ///   - other: The identifier that it may be a kind of.
  /// - Returns: Whether a way leads from one to the other. A circle in the tree does no harm.
  /// - Complexity: O(*n*) in the number of ancestors.
  public func conforms(_ type: String, to other: String) -> Bool {
    let wanted = other.lowercased()
    var seen: Set<String> = []
    var pending = [type.lowercased()]
    while let next = pending.popLast() {
      if next == wanted { return true }
      if seen.insert(next).inserted { pending += parents[next] ?? [] }
    }
    return false
  }

  /// Every type that a type is a kind of, the nearest first, without itself.
  ///
  /// - Parameter type: The identifier of a type; case doesn't matter.
  /// - Returns: Identifiers in small letters, each once; none for an unknown type.
  /// - Complexity: O(*n*) in the number of ancestors.
  public func supertypes(of type: String) -> [String] {
    var found: [String] = []
    var seen: Set<String> = [type.lowercased()]
    var pending = [type.lowercased()]
    while !pending.isEmpty {
      var next: [String] = []
      for parent in pending.flatMap({ parents[$0] ?? [] }) where seen.insert(parent).inserted { next.append(parent) }
      found += next
      pending = next
    }
    return found
  }

  /// The usual types of files.
  ///
  /// Each line has a type and those that are directly a kind of it.
  public static let standard = UniformTypeTree(
    """
    public.item public.data public.directory public.symlink public.archive public.executable com.apple.package
    public.content public.text public.image public.audiovisual-content public.composite-content public.presentation public.spreadsheet
    public.data public.text public.image public.archive public.database public.font public.executable public.movie public.audio
    public.data com.adobe.pdf public.disk-image public.log com.microsoft.word.doc com.microsoft.excel.xls org.openxmlformats.openxml
    public.directory public.folder com.apple.package public.volume
    com.apple.package com.apple.bundle
    com.apple.bundle com.apple.application com.apple.framework
    public.text public.plain-text public.html public.xml public.json public.rtf public.source-code public.script
    public.text public.delimited-values-text public.yaml net.daringfireball.markdown public.log public.vcard
    public.plain-text public.utf8-plain-text public.utf16-plain-text public.source-code public.delimited-values-text
    public.plain-text net.daringfireball.markdown
    public.delimited-values-text public.comma-separated-values-text public.tab-separated-values-text
    public.source-code public.swift-source public.c-source public.c-header public.c-plus-plus-source public.objective-c-source
    public.source-code public.script public.assembly-source com.sun.java-source
    public.script public.shell-script public.python-script public.perl-script public.ruby-script com.netscape.javascript-source
    public.image public.png public.jpeg public.tiff com.compuserve.gif public.heic public.heif public.svg-image com.microsoft.bmp
    public.image org.webmproject.webp public.camera-raw-image com.microsoft.ico com.adobe.photoshop-image
    public.xml public.svg-image com.apple.property-list
    public.audiovisual-content public.movie public.audio
    public.movie public.mpeg-4 com.apple.quicktime-movie public.avi public.mpeg org.matroska.mkv org.webmproject.webm
    public.audio public.mp3 public.mpeg-4-audio com.microsoft.waveform-audio public.aiff-audio org.xiph.flac public.midi-audio
    public.composite-content com.adobe.pdf public.rtf com.microsoft.word.doc org.openxmlformats.wordprocessingml.document
    public.composite-content org.oasis-open.opendocument.text
    public.archive public.zip-archive org.gnu.gnu-zip-archive public.tar-archive public.bzip2-archive org.7-zip.7-zip-archive
    public.zip-archive com.sun.java-archive org.idpf.epub-container org.openxmlformats.openxml
    org.openxmlformats.openxml org.openxmlformats.wordprocessingml.document org.openxmlformats.spreadsheetml.sheet
    org.openxmlformats.openxml org.openxmlformats.presentationml.presentation
    public.spreadsheet com.microsoft.excel.xls org.openxmlformats.spreadsheetml.sheet org.oasis-open.opendocument.spreadsheet
    public.presentation org.openxmlformats.presentationml.presentation org.oasis-open.opendocument.presentation
    public.font public.truetype-ttf-font public.opentype-font
    public.database org.sqlite.sqlite3
    public.text public.css com.apple.ical.ics public.patch-file
    public.json public.geojson
    public.source-code public.c-plus-plus-header public.objective-c-plus-plus-source public.make-source public.fortran-source
    public.source-code public.pascal-source public.ada-source
    public.script public.php-script
    public.shell-script public.csh-script
    public.data com.microsoft.powerpoint.ppt public.email-message public.object-code com.sun.java-class
    public.image public.avif public.jpeg-2000 public.jpeg-xl com.apple.icns com.truevision.tga-image com.ilm.openexr-image
    public.image com.adobe.raw-image com.adobe.encapsulated-postscript com.adobe.illustrator.ai-image
    public.camera-raw-image com.adobe.raw-image
    public.data com.adobe.postscript
    com.adobe.postscript com.adobe.encapsulated-postscript
    public.movie public.3gpp public.3gpp2 com.microsoft.windows-media-wmv
    public.audio public.ac3-audio com.microsoft.windows-media-wma
    public.text public.m3u-playlist
    public.presentation com.microsoft.powerpoint.ppt
    public.composite-content com.microsoft.powerpoint.ppt
    public.archive org.tukaani.xz-archive public.cpio-archive org.gnu.gnu-zip-tar-archive
    org.gnu.gnu-zip-archive org.gnu.gnu-zip-tar-archive
    public.disk-image public.iso-image com.apple.disk-image com.apple.disk-image-udif com.apple.disk-image-sparse
    com.apple.disk-image com.apple.disk-image-udif com.apple.disk-image-sparse
    public.archive public.disk-image
    public.executable com.microsoft.windows-executable public.unix-executable
    public.data public.url
    public.url public.file-url
    public.mpeg-4-audio com.apple.m4a-audio
    public.audio com.apple.protected-mpeg-4-audio
    com.apple.package org.idpf.epub-folder com.apple.rtfd com.apple.iwork.pages.pages com.apple.iwork.numbers.numbers com.apple.iwork.keynote.key
    com.apple.package com.apple.disk-image-sparsebundle
    public.disk-image com.apple.disk-image-sparsebundle
    public.composite-content com.apple.rtfd com.apple.iwork.pages.pages com.apple.iwork.pages.sffpages org.idpf.epub-container
    public.spreadsheet com.apple.iwork.numbers.numbers com.apple.iwork.numbers.sffnumbers
    public.presentation com.apple.iwork.keynote.key com.apple.iwork.keynote.sffkey
    public.data com.apple.iwork.pages.sffpages com.apple.iwork.numbers.sffnumbers com.apple.iwork.keynote.sffkey
    public.data org.idpf.epub-container
    public.font public.truetype-collection-font
    """)
}
