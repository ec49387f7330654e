package projection

// tokens returns about how many tokens a text is for a model.
func tokens(data []byte) int { return len(data) / 4 }
