package job

import "net/http"

// State is the state of a job.
type State uint8

// States of a job.
const (
	Unknown State = iota // the response has no word for it, or an unknown one
	Working
	Succeeded
	Failed
	Cancelled
)

// Ended reports whether the state is final.
func (s State) Ended() bool { return s == Succeeded || s == Failed || s == Cancelled }

// commonWords returns common words for states, in the form of [config.PlainWord]: those of Azure, of Google and of queues. "active"
// and "new" are not among them, because resources that a job creates keep these states.
func commonWords() map[string]State {
	words := map[string]State{}
	for state, list := range map[State][]string{
		Working: {
			"accepted", "creating", "deleting", "executing", "false", "inprogress", "notstarted", "pending", "processing", "provisioning",
			"queued", "running", "scheduled", "started", "starting", "submitted", "updating", "waiting", "working",
		},
		Succeeded: {"complete", "completed", "done", "finished", "ok", "ready", "succeeded", "success", "successful", "true"},
		Failed:    {"aborted", "error", "errored", "expired", "failed", "failure", "rejected", "timedout", "timeout"},
		Cancelled: {"canceled", "cancelled", "revoked", "stopped", "terminated"},
	} {
		for _, word := range list {
			words[word] = state
		}
	}
	return words
}

// IsElsewhere reports whether a status code refers to another URL for the result of a job (RFC 9110, sections 15.4.3 and 15.4.4).
func IsElsewhere(status int) bool { return status == http.StatusSeeOther || status == http.StatusFound }
