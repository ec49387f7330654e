package jsonscan

import "bytes"

// ReplaceStrings returns a JSON text, which was scanned before, with other strings, names of members among them: what by returns
// for a string, which it is given with its quotes, or the string as it is where that is nil. It returns data itself if nothing
// was replaced.
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
