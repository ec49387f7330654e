package projection

// Tokens returns about how many tokens a text is for a model.
func Tokens(data []byte) int { return tokens(data) }

func tokens(data []byte) int { return len(data) / 4 }
