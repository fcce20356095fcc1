// Clocks, locks and threads are a target of their own, and part of what is meant by the system.
@_exported public import SystemThreads
