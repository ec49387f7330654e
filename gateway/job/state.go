package job

import "net/http"

// State is where a job stands.
type State uint8

// States of a job.
const (
	Unknown State = iota // the answer has no word for it, or one that is not known
	Working
	Succeeded
	Failed
	Cancelled
)

// Ended reports whether a job in this state goes on no more.
func (s State) Ended() bool { return s == Succeeded || s == Failed || s == Cancelled }

// commonWords are the words for states that services have in common, as [config.PlainWord] gives them: those of Azure and
// Google, of queues. "active" and "new" are not among them: things that a job makes have these states for ever.
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

// IsElsewhere reports whether a status code says that the result of a job is elsewhere.
func IsElsewhere(status int) bool { return status == http.StatusSeeOther || status == http.StatusFound }
