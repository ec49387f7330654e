package jsonscan

// Skip returns the offset behind the value that starts at i, which is not white space.
func Skip(data []byte, i int) int { return skipValue(data, i) }
