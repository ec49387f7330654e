package trailer

import (
	"fmt"
	"net/http"
	"slices"

	"golang.org/x/net/http/httpguts"
)

// framing are the fields that must not be in a trailer, because they control the framing or routing of a message (RFC 9110, section
// 6.5.1). Two parties that read such a field differently disagree about the end of the message, so that its rest may be taken for the
// next one (request smuggling).
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
