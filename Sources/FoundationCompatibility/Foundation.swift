// On Apple platforms this is all: Foundation has everything else.
@_exported public import Foundation
