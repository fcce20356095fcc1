#if !canImport(ObjectiveC)
  public import Foundation

  // On Apple platforms the compiler makes objects of these values where a format's argument is expected. Here they're arguments themselves:
  // of predicates as they are, and in lists of C's arguments as objects. `String(format:)` of Foundation on Linux prints objects of few
  // classes, and ends the program at the others, such as arrays.

  extension NSObject: @retroactive CVarArg {
    /// The object's address, for `%@`.
    public var _cVarArgEncoding: [Int] { unsafe [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
  }

  /// A value that is passed as an object.
  public protocol PassedAsObject: CVarArg, _CVarArgObject {
    /// The object.
    var passedObject: NSObject { get }
  }

  extension PassedAsObject {
    /// The object, which lives as long as the list of arguments.
    public var _cVarArgObject: any CVarArg { passedObject }

    /// Never asked for: lists of arguments take the object.
    public var _cVarArgEncoding: [Int] { fatalError("\(Self.self) is passed as an object") }
  }

  extension Array: @retroactive CVarArg, @retroactive _CVarArgObject, PassedAsObject {
    /// The array as an object.
    public var passedObject: NSObject { NSArray(array: self) }
  }

  extension Set: @retroactive CVarArg, @retroactive _CVarArgObject, PassedAsObject {
    /// The set as an object.
    public var passedObject: NSObject { NSSet(array: Array(self)) }
  }

  extension Dictionary: @retroactive CVarArg, @retroactive _CVarArgObject, PassedAsObject {
    /// The dictionary as an object.
    public var passedObject: NSObject {
      let object = NSMutableDictionary()
      for (key, value) in self { object[key] = value }
      return object
    }
  }

  extension Date: @retroactive CVarArg, @retroactive _CVarArgObject, PassedAsObject {
    /// The date as an object.
    public var passedObject: NSObject { self as NSDate }
  }

  extension URL: @retroactive CVarArg, @retroactive _CVarArgObject, PassedAsObject {
    /// The URL as an object.
    public var passedObject: NSObject { self as NSURL }
  }

  extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject, PassedAsObject {
    /// The identifier as an object.
    public var passedObject: NSObject { self as NSUUID }
  }

  extension Data: @retroactive CVarArg, @retroactive _CVarArgObject, PassedAsObject {
    /// The data as an object.
    public var passedObject: NSObject { self as NSData }
  }
#endif
