// A query's health and the options of its scope are those of ``FileWatching``.
@_exported public import FileWatching
