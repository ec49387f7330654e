package credential

// sealed is a value that stands in no text. Package fmt asks no methods of what
// unexported fields hold, and with a verb that does not fit it follows pointers
// too; into a function it can't look. The value is not to be changed.
type sealed[T any] func() T

func seal[T any](v T) sealed[T] { return func() T { return v } }
