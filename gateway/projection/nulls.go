package projection

import (
	"bytes"

	"drawbridge/openapi/jsonscan"
)

// dropNulls returns an answer without the members of objects that are null, and their number. Elements of arrays stay, since their
// positions count, and so does an answer that is null. An answer without such members is not copied.
func dropNulls(data []byte) (kept []byte, dropped int) {
	if !bytes.Contains(data, []byte(":null")) {
		return data, 0
	}
	copied := 0
	for i := bytes.IndexByte(data, '"'); i < len(data); {
		if data[i] != '"' {
			i++
			continue
		}
		start := i
		if i = jsonscan.Skip(data, i); i+1 >= len(data) || data[i] != ':' || data[i+1] != 'n' {
			continue // a value, or the name of another one
		}
		if kept == nil {
			kept = make([]byte, 0, len(data))
		}
		kept = append(kept, data[copied:start]...)
		if i += len(":null"); data[i] == ',' {
			i++
		} else {
			kept = bytes.TrimSuffix(kept, []byte{','}) // the last member takes the comma before it along
		}
		copied = i
		dropped++
	}
	if dropped == 0 {
		return data, 0
	}
	return append(kept, data[copied:]...), dropped
}
