package credential

// sealed is a value that is never printed. Package fmt ignores the methods of values in unexported
// fields, and follows pointers for a wrong verb, but can't look into a function. The value must not
// be modified.
type sealed[T any] func() T

func seal[T any](v T) sealed[T] { return func() T { return v } }
