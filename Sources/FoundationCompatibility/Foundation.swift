// On Apple platforms this is all: Foundation has everything else. `.ci/imports --apple` checks that the other files are empty there.
@_exported public import Foundation
