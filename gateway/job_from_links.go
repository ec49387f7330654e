package gateway

import (
	"net/http"
	"strings"

	"drawbridge/auth/credential"
	"drawbridge/openapi"
)

// jobLinks are the requests about a job that the links of its document describe; nil: none, or it is not clear which.
type jobLinks struct{ status, result, cancel *jobRequest }

// linksOf finds the requests about the jobs of an operation among its links. The status is the only one whose operation is GET,
// or else the only one whose name says so; the others are known by their names, and DELETE cancels.
func linksOf(op *openapi.Operation, all []*openapi.Operation, choice func(*openapi.Operation) *credential.Choice) (found jobLinks) {
	var looks, states, results, cancels []*jobRequest
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
		r := &jobRequest{operation: target, method: target.Method, bind: bound, choice: choice(target), linked: true}
		if r.choice == nil {
			r.choice = &credential.Choice{}
		}
		name := strings.ToLower(l.Name)
		switch {
		case target.Method == http.MethodGet && says(name, "result", "output", "download"):
			results = append(results, r)
		case target.Method == http.MethodGet:
			if looks = append(looks, r); says(name, "status", "state", "job", "poll", "progress", "self") {
				states = append(states, r)
			}
		case target.Method == http.MethodDelete || says(name, "cancel", "stop", "abort"):
			cancels = append(cancels, r)
		}
	}
	if found.status = only(looks); found.status == nil {
		found.status = only(states)
	}
	found.result, found.cancel = only(results), only(cancels)
	return found
}

func says(name string, words ...string) bool {
	for _, word := range words {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

func only(requests []*jobRequest) *jobRequest {
	if len(requests) != 1 {
		return nil
	}
	return requests[0]
}

// onlyAccepted tells whether all links of an operation stand at the answer that is a job, so that they can be meant for one.
func onlyAccepted(op *openapi.Operation) bool {
	for i := range op.Links {
		if op.Links[i].Status != "202" {
			return false
		}
	}
	return len(op.Links) > 0
}
