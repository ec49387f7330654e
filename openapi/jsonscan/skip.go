package jsonscan

// Skip returns the end of the value at i, which is not white space.
func Skip(data []byte, i int) int { return skipValue(data, i) }
