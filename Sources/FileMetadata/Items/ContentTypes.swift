internal import MetadataPredicates
internal import SystemInterface

/// Uniform type identifiers of files, by kind and extension.
enum ContentTypes {
  /// The type of a file.
  static func type(of kind: FileKind, named name: String) -> String {
    switch kind {
    case .directory: return "public.folder"
    case .symbolicLink: return "public.symlink"
    case .regular, .fifo, .socket, .characterDevice, .blockDevice, .unknown:
      let parts = name.split(separator: ".", omittingEmptySubsequences: false)
      guard kind == .regular, parts.count > 1, let last = parts.last else { return "public.data" }
      return types[last.lowercased()] ?? "public.data"
    }
  }

  /// A type and everything that it's a kind of, itself first.
  static func tree(of type: String) -> [String] {
    [type] + ancestors.filter { $0 != type && UniformTypeTree.standard.conforms(type, to: $0) }
  }

  /// Extensions of each type of ``UniformTypeTree/standard`` that has some.
  private static let types: [String: String] = {
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
      public.mpeg-4-audio m4a
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
      public.disk-image iso img
      """
    var types: [String: String] = [:]
    for line in lines.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      for name in words.dropFirst() { types[name] = words[0] }
    }
    return types
  }()

  /// Types that others are kinds of.
  private static let ancestors = [
    "public.source-code", "public.script", "public.delimited-values-text", "public.plain-text", "public.xml",
    "public.text", "public.image", "public.movie", "public.audio", "public.audiovisual-content",
    "public.composite-content", "public.zip-archive", "org.openxmlformats.openxml", "public.archive", "public.font",
    "public.database", "public.executable", "public.spreadsheet", "public.presentation", "public.content",
    "public.data", "public.directory", "public.item",
  ]
}
