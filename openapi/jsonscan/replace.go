package jsonscan

import "bytes"

// ReplaceStrings returns a JSON text, which was scanned before, with its strings, including member names, replaced. by
// receives each string with its quotes and returns the replacement, or nil to keep it. ReplaceStrings returns data
// itself if nothing was replaced.
func ReplaceStrings(data []byte, by func(str []byte) []byte) []byte {
	var out []byte
	copied := 0
	for i := 0; ; {
		quote := bytes.IndexByte(data[i:], '"')
		if quote < 0 {
			break
		}
		start := i + quote
		i = skipString(data, start+1)
		str := by(data[start:i])
		if str == nil {
			continue
		}
		if out == nil {
			out = make([]byte, 0, len(data))
		}
		out = append(append(out, data[copied:start]...), str...)
		copied = i
	}
	if out == nil {
		return data
	}
	return append(out, data[copied:]...)
}
