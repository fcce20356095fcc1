internal import MetadataPredicates
internal import SystemInterface

/// Uniform type identifiers of files, by kind and name.
///
/// Apple's own names come first, then the desktops' shared database. Contents aren't read.
package enum ContentTypes {
  /// The type of a document by the extension of its name, wherever it is.
  package static func type(ofDocumentNamed name: String) -> String {
    type(of: .regular, named: name, isExecutable: false)
  }

  /// The usual extension of the names of documents of a type; `nil` if it's unknown.
  package static func fileExtension(ofDocumentsOfType type: String) -> String? {
    usualExtensions[type] ?? directoryTypes.first { $0.value == type }?.key
  }

  /// The type of a file: the nearest one known to hold for it.
  ///
  /// - Parameters:
  ///   - kind: The kind of file.
  ///   - name: Its name.
  ///   - isExecutable: Whether any user may run it; only evaluated where the name says nothing.
  ///   - database: The desktops' shared database.
  /// - Returns: The identifier.
  static func type(
    of kind: FileKind, named name: String, isExecutable: @autoclosure () -> Bool, in database: MimeDatabase = .host
  ) -> String {
    switch kind {
    case .directory: return directoryTypes[fileExtension(of: name) ?? ""] ?? "public.folder"
    case .symbolicLink: return "public.symlink"
    case .fifo, .socket, .characterDevice, .blockDevice, .unknown: return "public.data"
    case .regular: break
    }
    if let known = fileExtension(of: name).flatMap({ types[$0] }) { return known }
    guard let media = database.type(named: name) else {
      return isExecutable() ? "public.unix-executable" : "public.data"
    }
    return database.kinds(of: media).lazy.compactMap(MediaTypes.identifier).first ?? MediaTypes.family(media)
  }

  private static func fileExtension(of name: String) -> String? {
    name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() }
  }

  /// Documents that are directories, by their extensions.
  private static let directoryTypes = [
    "rtfd": "com.apple.rtfd", "pages": "com.apple.iwork.pages.pages", "numbers": "com.apple.iwork.numbers.numbers",
    "key": "com.apple.iwork.keynote.key", "epub": "org.idpf.epub-folder",
    "sparsebundle": "com.apple.disk-image-sparsebundle",
  ]

  /// A type and everything that it's a kind of, itself first.
  static func tree(of type: String) -> [String] { [type] + UniformTypeTree.standard.supertypes(of: type) }

  /// The description of files like this one, for people; `nil` without a database that has one.
  static func kind(of kind: FileKind, named name: String, in database: MimeDatabase = .host) -> String? {
    media(of: kind, named: name, in: database).flatMap(database.description)
  }

  /// The same, in the language of this process, read once for each type.
  static func knownKind(of kind: FileKind, named name: String) -> String? {
    guard let media = media(of: kind, named: name, in: .host) else { return nil }
    if let known = descriptions.withLock({ $0[media] }) { return known }
    let description = MimeDatabase.host.description(of: media)
    descriptions.withLock { $0[media] = .some(description) }
    return description
  }

  private static let descriptions = Guarded<[String: String?]>([:])

  private static func media(of kind: FileKind, named name: String, in database: MimeDatabase) -> String? {
    switch kind {
    case .directory: "inode/directory"
    case .symbolicLink: "inode/symlink"
    case .fifo: "inode/fifo"
    case .socket: "inode/socket"
    case .characterDevice: "inode/chardevice"
    case .blockDevice: "inode/blockdevice"
    case .regular: database.type(named: name)
    case .unknown: nil
    }
  }

  private static let types = Dictionary(
    uniqueKeysWithValues: namedTypes.flatMap { type, names in names.map { ($0, type) } })

  private static let usualExtensions = Dictionary(
    uniqueKeysWithValues: namedTypes.compactMap { type, names in names.first.map { (type, $0) } })

  /// Types of ``UniformTypeTree/standard`` that have extensions, the usual one first.
  private static let namedTypes: [(type: String, extensions: [String])] = {
    let lines = """
      public.plain-text txt text
      public.html html htm
      public.xml xml
      public.json json
      public.rtf rtf
      public.yaml yaml yml
      net.daringfireball.markdown md markdown
      public.log log
      public.vcard vcf
      public.comma-separated-values-text csv
      public.tab-separated-values-text tsv
      public.swift-source swift
      public.c-source c
      public.c-header h
      public.c-plus-plus-source cc cpp cxx
      public.objective-c-source m
      public.assembly-source s
      com.sun.java-source java
      public.shell-script sh bash zsh
      public.python-script py
      public.perl-script pl
      public.ruby-script rb
      com.netscape.javascript-source js mjs
      public.png png
      public.jpeg jpg jpeg
      public.tiff tif tiff
      com.compuserve.gif gif
      public.heic heic
      public.heif heif
      public.svg-image svg
      com.microsoft.bmp bmp
      org.webmproject.webp webp
      com.microsoft.ico ico
      com.adobe.photoshop-image psd
      com.apple.property-list plist
      public.mpeg-4 mp4
      com.apple.quicktime-movie mov
      public.avi avi
      public.mpeg mpg mpeg
      org.matroska.mkv mkv
      org.webmproject.webm webm
      public.mp3 mp3
      com.apple.m4a-audio m4a m4r
      com.apple.protected-mpeg-4-audio m4p m4b
      com.microsoft.waveform-audio wav
      public.aiff-audio aif aiff
      org.xiph.flac flac
      public.midi-audio mid midi
      com.adobe.pdf pdf
      com.microsoft.word.doc doc
      com.microsoft.excel.xls xls
      org.openxmlformats.wordprocessingml.document docx
      org.openxmlformats.spreadsheetml.sheet xlsx
      org.openxmlformats.presentationml.presentation pptx
      org.oasis-open.opendocument.text odt
      org.oasis-open.opendocument.spreadsheet ods
      org.oasis-open.opendocument.presentation odp
      public.zip-archive zip
      org.gnu.gnu-zip-archive gz tgz
      public.tar-archive tar
      public.bzip2-archive bz2
      org.7-zip.7-zip-archive 7z
      com.sun.java-archive jar
      org.idpf.epub-container epub
      public.truetype-ttf-font ttf
      public.opentype-font otf
      org.sqlite.sqlite3 sqlite sqlite3
      public.css css
      com.apple.ical.ics ics
      public.email-message eml
      public.avif avif
      org.tukaani.xz-archive xz
      public.php-script php
      com.microsoft.powerpoint.ppt ppt
      public.iso-image iso
      public.disk-image img
      com.apple.disk-image-udif dmg
      com.apple.disk-image-sparse sparseimage
      com.apple.iwork.pages.sffpages pages
      com.apple.iwork.numbers.sffnumbers numbers
      com.apple.iwork.keynote.sffkey key
      """
    return lines.split(separator: "\n").map { line in
      let words = line.split(separator: " ").map(String.init)
      return (words[0], Array(words.dropFirst()))
    }
  }()
}
