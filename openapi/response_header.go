package openapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what is kept of the headers that answers declare.
const (
	maxAnswerHeaders    = 32 // of one answer
	maxAnswerHeaderName = 64 // bytes
)

// answerHeaders are the headers that the document declares for a status: code is 200, or 2 for the range 2XX; 0 for all others.
type answerHeaders struct {
	code  uint16
	names []string
}

// AnswerHeaders returns the names of the headers that the document declares for answers of a status, canonical and in its order; those
// of "default" where it says nothing of the status. They must not be written to.
func (o *Operation) AnswerHeaders(status int) []string {
	var names []string
	best := -1
	for _, h := range o.headers {
		switch code := int(h.code); code {
		case status:
			return h.names
		case status / 100, 0:
			if code > best {
				names, best = h.names, code
			}
		}
	}
	return names
}

// answerHeaders gathers them for an operation. An answer of a status that declares none is kept, too, if another's would be taken for
// it.
func (c *compiler) answerHeaders(answers []answer) (all []answerHeaders) {
	any := false
	for _, a := range answers {
		code, err := strconv.ParseUint(strings.TrimSuffix(a.status, "XX"), 10, 10)
		if a.status == "DEFAULT" {
			code, err = 0, nil
		} else if len(a.status) != 3 || code == 0 {
			continue
		}
		if err != nil || len(all) == maxMeanings {
			continue
		}
		var names []string
		for name := range a.node.Get("headers").Members() {
			if name = http.CanonicalHeaderKey(name); isAnswerHeader(name) && !slices.Contains(names, name) && len(names) < maxAnswerHeaders {
				names = append(names, name)
			}
		}
		any = any || len(names) > 0
		all = append(all, answerHeaders{uint16(code), c.shareNames(names)})
	}
	if !any {
		return nil
	}
	return all
}

// shareNames returns names of which equal ones share their memory: documents declare the same headers everywhere.
func (c *compiler) shareNames(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	key := strings.Join(names, ",")
	known, found := c.headers.Load(key)
	if !found {
		key = strings.Clone(key)
		known, _ = c.headers.LoadOrStore(key, strings.Split(key, ","))
	}
	shared, _ := known.([]string)
	return shared
}

// isAnswerHeader tells whether a text is the name of a header as services have them.
func isAnswerHeader(name string) bool {
	return name != "" && len(name) <= maxAnswerHeaderName && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	})
}
