package credential

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// normalizeBody replaces the body of a token response by one that x/oauth2 accepts. A read error is
// passed on to the reader.
func normalizeBody(resp *http.Response) {
	body := resp.Body
	text, err := io.ReadAll(body)
	rest := io.Reader(bytes.NewReader(normalize(resp.Header, text)))
	if err != nil {
		rest = io.MultiReader(bytes.NewReader(text), errReader{err})
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{rest, body}
}

// errReader is a reader that fails.
type errReader struct{ err error }

// Read implements [io.Reader].
func (f errReader) Read([]byte) (int, error) { return 0, f.err }

// normalize repairs two faults of token endpoints. JSON may be served as text/plain, which x/oauth2
// parses as a form; a form never begins with a brace. "expires_in" may be a number with a fraction,
// a string or invalid, for which x/oauth2 rejects the whole response although the member is only
// recommended (RFC 6749 section 5.1).
func normalize(header http.Header, text []byte) []byte {
	var members map[string]json.RawMessage
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) || json.Unmarshal(text, &members) != nil {
		return text
	}
	header.Set("Content-Type", "application/json")
	changed := false
	for name, value := range members {
		if !strings.EqualFold(name, "expires_in") { // x/oauth2 ignores the case of the name
			continue
		}
		if _, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			continue
		}
		changed = true
		delete(members, name)
		if seconds, ok := parseSeconds(value); ok {
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

// parseSeconds parses a number of seconds, which may be a JSON string.
func parseSeconds(value json.RawMessage) (int64, bool) {
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
