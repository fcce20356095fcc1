// Values, changes, limits and policies of keys are a target of their own, and part of what a program needs of a store.
@_exported public import KeyValueReplicas
