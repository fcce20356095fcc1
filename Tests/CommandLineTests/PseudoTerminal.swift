import Foundation
import Glibc

/// A terminal whose other end is a test, see pty(7).
final class PseudoTerminal {
  /// The end that the test reads, and types into.
  let controller: FileHandle
  /// The end that the program writes to, and reads.
  let device: FileHandle

  /// Opens one.
  ///
  /// - Parameter width: How many columns it says that it has.
  /// - Throws: `RunningTool.Failure` when the system has none.
  init(width: UInt16) throws {
    // The macros of <asm-generic/ioctls.h> and posix_openpt(3) aren't visible in Swift.
    let (unlock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
    let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    if descriptor < 0 { throw RunningTool.Failure(description: "no terminal: errno \(errno)") }
    controller = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var (locked, number): (Int32, Int32) = (0, 0)
    var size = winsize(ws_row: 24, ws_col: width, ws_xpixel: 0, ws_ypixel: 0)
    guard ioctl(descriptor, unlock, &locked) == 0, ioctl(descriptor, getNumber, &number) == 0,
      ioctl(descriptor, UInt(TIOCSWINSZ), &size) == 0
    else { throw RunningTool.Failure(description: "no terminal: errno \(errno)") }
    let other = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    if other < 0 { throw RunningTool.Failure(description: "no terminal: errno \(errno)") }
    device = FileHandle(fileDescriptor: other, closeOnDealloc: true)
  }

  /// Gives it another size; the program has to be told by SIGWINCH, unless it's the terminal of its session.
  func resize(rows: UInt16, columns: UInt16) {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(controller.fileDescriptor, UInt(TIOCSWINSZ), &size)
  }

  /// Gathers lines again, and shows what is typed, as a shell does that has stopped a program.
  func cook() {
    var mode = termios()
    _ = tcgetattr(controller.fileDescriptor, &mode)
    mode.c_lflag |= tcflag_t(ICANON | ECHO | ISIG)
    _ = tcsetattr(controller.fileDescriptor, TCSANOW, &mode)
  }

  /// Leaves the terminal to the program that was started on it.
  func closeDevice() { try? device.close() }

  /// Sends keys as their bytes.
  func type(_ keys: String) throws { try controller.write(contentsOf: Data(keys.utf8)) }

  /// Whether it gathers lines and shows what is typed, as it does unless a program has changed that.
  var isCooked: Bool {
    var mode = termios()
    let flags = tcflag_t(ICANON | ECHO | ISIG)
    return tcgetattr(controller.fileDescriptor, &mode) == 0 && mode.c_lflag & flags == flags
  }
}
