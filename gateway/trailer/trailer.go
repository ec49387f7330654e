package trailer

import (
	"fmt"
	"net/http"
	"slices"

	"golang.org/x/net/http/httpguts"
)

// framing are fields that a trailer must not have, because they say how a message is framed or routed (RFC 9110 section 6.5.1). Two parties
// that read such a field in different ways disagree about where the message ends, so that the rest of it may become the next one.
var framing = []string{"Connection", "Content-Encoding", "Content-Length", "Content-Range", "Host", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// Check returns an error for a trailer that must not be accepted.
func Check(fields http.Header) error {
	for name, values := range fields {
		switch {
		case values == nil: // announced, and not sent
		case !httpguts.ValidHeaderFieldName(name):
			return fmt.Errorf("the trailer has a field with the name %.60q", name)
		case slices.Contains(framing, http.CanonicalHeaderKey(name)):
			return fmt.Errorf("the trailer has the field %s, which is not allowed in a trailer", http.CanonicalHeaderKey(name))
		}
	}
	return nil
}
