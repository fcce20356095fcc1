/// Apple's identifiers for media types.
enum MediaTypes {
  /// The identifier of a media type; `nil` if there's none that says as much, but perhaps one for a more general type.
  static func identifier(_ type: String) -> String? { identifiers[type] }

  /// The identifier that holds for all types that begin in the same way.
  static func family(_ type: String) -> String {
    switch type.prefix(while: { $0 != "/" }) {
    case "text": "public.text"
    case "image": "public.image"
    case "audio": "public.audio"
    case "video": "public.movie"
    case "font": "public.font"
    default: "public.data"
    }
  }

  private static let identifiers: [String: String] = {
    let lines = """
      text/plain public.plain-text
      text/html public.html
      text/xml public.xml
      application/xml public.xml
      application/json public.json
      application/geo+json public.geojson
      application/rtf public.rtf
      application/yaml public.yaml
      application/x-yaml public.yaml
      text/markdown net.daringfireball.markdown
      text/x-log public.log
      text/vcard public.vcard
      text/calendar com.apple.ical.ics
      text/csv public.comma-separated-values-text
      text/tab-separated-values public.tab-separated-values-text
      text/css public.css
      text/x-csrc public.c-source
      text/x-chdr public.c-header
      text/x-c++src public.c-plus-plus-source
      text/x-c++hdr public.c-plus-plus-header
      text/x-objcsrc public.objective-c-source
      text/x-objc++src public.objective-c-plus-plus-source
      text/x-java com.sun.java-source
      text/x-makefile public.make-source
      text/x-patch public.patch-file
      text/x-fortran public.fortran-source
      text/x-pascal public.pascal-source
      text/x-adasrc public.ada-source
      text/x-python public.python-script
      text/x-python3 public.python-script
      application/javascript com.netscape.javascript-source
      text/javascript com.netscape.javascript-source
      application/x-shellscript public.shell-script
      application/x-csh public.csh-script
      application/x-perl public.perl-script
      application/x-ruby public.ruby-script
      application/x-php public.php-script
      message/rfc822 public.email-message
      image/png public.png
      image/jpeg public.jpeg
      image/tiff public.tiff
      image/gif com.compuserve.gif
      image/heif public.heif
      image/heic public.heic
      image/avif public.avif
      image/jp2 public.jpeg-2000
      image/jxl public.jpeg-xl
      image/svg+xml public.svg-image
      image/bmp com.microsoft.bmp
      image/webp org.webmproject.webp
      image/vnd.microsoft.icon com.microsoft.ico
      image/x-icns com.apple.icns
      image/x-tga com.truevision.tga-image
      image/x-exr com.ilm.openexr-image
      image/vnd.adobe.photoshop com.adobe.photoshop-image
      image/x-adobe-dng com.adobe.raw-image
      image/x-dcraw public.camera-raw-image
      application/postscript com.adobe.postscript
      image/x-eps com.adobe.encapsulated-postscript
      application/illustrator com.adobe.illustrator.ai-image
      application/pdf com.adobe.pdf
      video/mp4 public.mpeg-4
      video/quicktime com.apple.quicktime-movie
      video/x-msvideo public.avi
      video/vnd.avi public.avi
      video/mpeg public.mpeg
      video/3gpp public.3gpp
      video/3gpp2 public.3gpp2
      video/x-matroska org.matroska.mkv
      video/webm org.webmproject.webm
      video/x-ms-wmv com.microsoft.windows-media-wmv
      audio/mpeg public.mp3
      audio/mp4 public.mpeg-4-audio
      audio/x-wav com.microsoft.waveform-audio
      audio/vnd.wave com.microsoft.waveform-audio
      audio/x-aiff public.aiff-audio
      audio/flac org.xiph.flac
      audio/midi public.midi-audio
      audio/ac3 public.ac3-audio
      audio/x-ms-wma com.microsoft.windows-media-wma
      audio/x-mpegurl public.m3u-playlist
      application/vnd.apple.mpegurl public.m3u-playlist
      application/msword com.microsoft.word.doc
      application/vnd.ms-excel com.microsoft.excel.xls
      application/vnd.ms-powerpoint com.microsoft.powerpoint.ppt
      application/vnd.openxmlformats-officedocument.wordprocessingml.document org.openxmlformats.wordprocessingml.document
      application/vnd.openxmlformats-officedocument.spreadsheetml.sheet org.openxmlformats.spreadsheetml.sheet
      application/vnd.openxmlformats-officedocument.presentationml.presentation org.openxmlformats.presentationml.presentation
      application/vnd.oasis.opendocument.text org.oasis-open.opendocument.text
      application/vnd.oasis.opendocument.spreadsheet org.oasis-open.opendocument.spreadsheet
      application/vnd.oasis.opendocument.presentation org.oasis-open.opendocument.presentation
      application/epub+zip org.idpf.epub-container
      application/zip public.zip-archive
      application/gzip org.gnu.gnu-zip-archive
      application/x-compressed-tar org.gnu.gnu-zip-tar-archive
      application/x-tar public.tar-archive
      application/x-bzip public.bzip2-archive
      application/x-bzip2 public.bzip2-archive
      application/x-xz org.tukaani.xz-archive
      application/x-7z-compressed org.7-zip.7-zip-archive
      application/x-cpio public.cpio-archive
      application/x-java-archive com.sun.java-archive
      application/java-archive com.sun.java-archive
      application/x-java com.sun.java-class
      application/x-cd-image public.iso-image
      application/x-raw-disk-image public.disk-image
      application/x-apple-diskimage com.apple.disk-image
      application/x-executable public.unix-executable
      application/x-sharedlib public.executable
      application/x-object public.object-code
      application/x-msdownload com.microsoft.windows-executable
      font/ttf public.truetype-ttf-font
      font/otf public.opentype-font
      font/collection public.truetype-collection-font
      application/vnd.sqlite3 org.sqlite.sqlite3
      application/x-sqlite3 org.sqlite.sqlite3
      application/x-plist com.apple.property-list
      """
    var identifiers: [String: String] = [:]
    for line in lines.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      identifiers[words[0]] = words[1]
    }
    return identifiers
  }()
}
