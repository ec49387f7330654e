package admin

import (
	"fmt"
	"strings"
	"time"
)

// moment formats a time for a line.
func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// String describes the issuer in a line.
func (i Issuer) String() string {
	var b strings.Builder
	switch {
	case i.Introspection && i.Able:
		b.WriteString("introspection")
	case i.Introspection:
		b.WriteString("no introspection endpoint")
	case i.Keys == 1:
		b.WriteString("1 key")
	case i.Able:
		fmt.Fprintf(&b, "%d keys", i.Keys)
	default:
		b.WriteString("no keys")
	}
	if i.Fetched != nil && i.Able {
		fmt.Fprintf(&b, ", fetched at %s", moment(*i.Fetched))
	}
	if i.Stored {
		b.WriteString(" by an earlier process")
	}
	if i.Error != "" {
		fmt.Fprintf(&b, ": %s", i.Error)
	}
	return b.String()
}

// String describes the audit log in a line.
func (a *Audit) String() string {
	if a.Writable {
		return fmt.Sprintf("writable, %d records wait", a.Pending)
	}
	refused := "calls are made without records"
	if a.Refuses {
		refused = "calls are refused"
	}
	return fmt.Sprintf("not writable since %s, %s, %d records wait: %s", moment(a.Since), refused, a.Pending, a.Error)
}

// String describes the shared state in a line.
func (s *Shared) String() string {
	if s.Up {
		return fmt.Sprintf("up, %d replicas", s.Replicas)
	}
	return fmt.Sprintf("away since %s, %d replicas were last seen: %s", moment(s.Since), s.Replicas, s.Error)
}
