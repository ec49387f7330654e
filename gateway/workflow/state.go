package workflow

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/telemetry"
)

// state is what is kept of a run while its user is asked.
type state struct {
	Of      string                                `json:"w"`           // digest of the workflow
	Begun   bool                                  `json:"b,omitempty"` // the user was asked what is asked before the first step
	Agreed  []string                              `json:"y,omitempty"` // ids of the steps that the user has agreed to by that
	At      int                                   `json:"a"`           // index of the next step
	Retried int                                   `json:"r,omitempty"` // how often that was repeated
	Runs    int                                   `json:"n,omitempty"` // steps that have ended
	Outputs map[string]map[string]json.RawMessage `json:"o,omitempty"` // by step and name
	Done    []string                              `json:"d,omitempty"` // ids of the steps that succeeded
	Asked   json.RawMessage                       `json:"s,omitempty"` // the state of the next step, which has asked the user
	size    int                                   // bytes of Outputs
}

// digestOf identifies a workflow as its author, the documents and the configuration have it: its description, and the tools of its steps.
func (b *binder) digestOf(t *Tool) string {
	h := sha256.New()
	h.Write(b.description.Digest[:])
	for p := range t.plans() {
		fmt.Fprintf(h, "%q %q %q %s\n", p.Tool.API, p.Tool.Method, p.Tool.Path, p.Tool.Definition(catalog.AllFeatures))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
}

// servers returns the digest of the workflow with the servers that the caller's token selects for its steps.
func (r *run) servers() string {
	of := r.tool.digest
	for p := range r.tool.plans() {
		if p.Servers == nil {
			continue
		}
		if at, _, err := p.For(r.call.Caller.Principal, nil); err == nil { // else an argument selects it, which is the run's
			of += "," + at.Server
		}
	}
	return of
}

// restore continues from what was kept, if anything was. A run does not go on with another workflow than the one of which the user was asked.
func (r *run) restore(kept json.RawMessage) error {
	if kept != nil {
		if err := json.Unmarshal(kept, &r.state); err != nil {
			return fmt.Errorf("state of the workflow: %w", err)
		}
	}
	if r.Outputs == nil {
		r.Outputs = map[string]map[string]json.RawMessage{}
	}
	if kept == nil || r.Of == r.servers() && r.At >= 0 && r.At < len(r.tool.steps) {
		return nil
	}
	return &call.Failure{Outcome: telemetry.OutcomeUnanswered, Text: fmt.Sprintf("The workflow %s, a tool of its steps or the server that the access token selects has changed since the user was asked, "+
		"so the answer no longer counts. Nothing more was done.", r.tool.Name()) + r.done()}
}

// keep keeps the run while the user is asked, and returns how many bytes that takes.
func (r *run) keep() (size int, err error) {
	r.Of = r.servers()
	kept, err := json.Marshal(&r.state)
	if err != nil {
		return 0, fmt.Errorf("state of the workflow: %w", err)
	}
	r.call.Keep(kept)
	return len(kept), nil
}

// hasAgreed reports whether the user has agreed to a step before the first one. That counts for one success: a step that the workflow comes
// back to asks again.
func (r *run) hasAgreed(s *step) bool {
	return slices.Contains(r.Agreed, s.ID) && !slices.Contains(r.Done, s.ID)
}
