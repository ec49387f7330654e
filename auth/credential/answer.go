package credential

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// readAnswer reads the body of a token endpoint's answer, and makes the answer
// one that x/oauth2 reads. A body that breaks off breaks off for the reader, too.
func readAnswer(resp *http.Response) {
	body := resp.Body
	text, err := io.ReadAll(body)
	rest := io.Reader(bytes.NewReader(normalize(resp.Header, text)))
	if err != nil {
		rest = io.MultiReader(bytes.NewReader(text), failing{err})
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{rest, body}
}

// failing is a reader of which nothing can be read.
type failing struct{ err error }

// Read implements [io.Reader].
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// normalize mends two faults of token endpoints. JSON is served as text/plain,
// which x/oauth2 takes for a form; a form never begins with a brace. And
// "expires_in" is a number with a fraction, a text or nothing that can be read,
// for which x/oauth2 refuses the whole answer, though the member is only
// recommended (RFC 6749 section 5.1).
func normalize(header http.Header, text []byte) []byte {
	var members map[string]json.RawMessage
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) || json.Unmarshal(text, &members) != nil {
		return text
	}
	header.Set("Content-Type", "application/json")
	changed := false
	for name, value := range members {
		if !strings.EqualFold(name, "expires_in") { // x/oauth2 reads it in any case
			continue
		}
		if _, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			continue
		}
		changed = true
		delete(members, name)
		if seconds, ok := secondsOf(value); ok {
			members["expires_in"] = strconv.AppendInt(nil, seconds, 10)
		}
	}
	if !changed {
		return text
	}
	if mended, err := json.Marshal(members); err == nil {
		return mended
	}
	return text
}

// secondsOf reads a number of seconds, which may be a text; false if it is none.
func secondsOf(value json.RawMessage) (int64, bool) {
	text := string(value)
	if strings.HasPrefix(text, `"`) && json.Unmarshal(value, &text) != nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || n != n {
		return 0, false
	}
	return int64(max(-1, min(n, maxLife.Seconds()))), true
}
