package job

import (
	"net/http"
	"strings"

	"drawbridge/auth/credential"
	"drawbridge/openapi"
)

// Links are the requests about a job that links of the document describe. One is nil if no link, or more than one, describes it.
type Links struct{ Status, Result, Cancel *Request }

// LinksOf finds the requests about the jobs of an operation among its links. The status request is the only GET, or else the only
// GET with a word such as "status" in its name. The others are recognized by their names; a DELETE cancels.
func LinksOf(op *openapi.Operation, all []*openapi.Operation, choice func(*openapi.Operation) *credential.Choice) (found Links) {
	var looks, states, results, cancels []*Request
	for i := range op.Links {
		l := &op.Links[i]
		target := l.Target(all)
		if target == nil {
			continue
		}
		bound, ok := l.Arguments(target)
		if !ok {
			continue
		}
		r := &Request{Operation: target, Method: target.Method, bind: bound, Credential: OrDefault(choice(target)), Linked: true}
		name := strings.ToLower(l.Name)
		switch {
		case target.Method == http.MethodGet && hasWord(name, "result", "output", "download"):
			results = append(results, r)
		case target.Method == http.MethodGet:
			if looks = append(looks, r); hasWord(name, "status", "state", "job", "poll", "progress", "self") {
				states = append(states, r)
			}
		case target.Method == http.MethodDelete || hasWord(name, "cancel", "stop", "abort"):
			cancels = append(cancels, r)
		}
	}
	if found.Status = only(looks); found.Status == nil {
		found.Status = only(states)
	}
	found.Result, found.Cancel = only(results), only(cancels)
	return found
}

// hasWord reports whether a name has one of the words in it.
func hasWord(name string, words ...string) bool {
	for _, word := range words {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// only returns the request if there is exactly one, else nil.
func only(requests []*Request) *Request {
	if len(requests) != 1 {
		return nil
	}
	return requests[0]
}

// OnlyAccepted reports whether all links of an operation belong to the response 202, so that they can describe a job.
func OnlyAccepted(op *openapi.Operation) bool {
	for i := range op.Links {
		if op.Links[i].Status != "202" {
			return false
		}
	}
	return len(op.Links) > 0
}
