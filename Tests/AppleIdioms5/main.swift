// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation

// Programs in the idioms of those that were written for Apple platforms in Swift 5: they import Foundation and nothing else.

runDocumentStore()
runTextDocument()
runCoordinating()
runMainQueue()
runSearching()
runTrash()
runDocumentList()
runValueBrowser()
print("all well")
Scene.end(0)
