package render

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"drawbridge/gateway/job"
	"drawbridge/gateway/redact"
)

// TestRunningJob checks the text about a job that is running: its state, and how to follow it.
func TestRunningJob(t *testing.T) {
	const not = ". Do not make the same call again, which would begin another job. "
	at := &url.URL{Scheme: "https", Host: "api.example", Path: "/jobs/7", RawQuery: "key=x"}
	for want, j := range map[string]RunningJob{
		"shop has taken this call as a job, and does not say how it stands" + not + "Tell the user that the result is not known yet; a tool that reads it may be among yours.":                                                                                                                       {},
		`shop has taken this call as a job, which goes on: after 5 seconds its state is "queued" (soon), 1 of 4` + not + `To see how it stands, call the tool jobs with the arguments {"id":7}.`:                                                                                                     {After: 5 * time.Second, Last: &job.Report{Word: "queued", Message: "soon", Progress: 1, Total: 4}, StatusTool: "jobs", StatusArgs: []byte(`{"id":7}`), URL: at},
		"shop has taken this call as a job, which goes on: it had not ended after 3 minutes" + not + "Tell the user that the result is not known yet, and that the service has it at /jobs/7; a tool that reads it may be among yours. The URL that the caller gave will be called with the result.": {After: 200 * time.Second, Last: &job.Report{}, URL: at, Webhook: true},
	} {
		j.API = "shop"
		if got := j.Text(redact.Redactor{}); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestFailedJob checks that a failed job is reported in the service's words if those are short.
func TestFailedJob(t *testing.T) {
	const next = "\nLook at what the service says; the same call may need other arguments, or work later."
	if got := FailedJob("shop", &job.Report{State: job.Cancelled, Word: "aborted", Message: "no"}, nil, redact.Redactor{}); got != "shop took the call as a job, which was cancelled (aborted): no"+next {
		t.Error(got)
	}
	got := FailedJob("shop", &job.Report{State: job.Failed}, []byte(`{"a":"`+strings.Repeat("x ", MaxErrorBody)+`"}`), redact.Redactor{})
	if !strings.HasPrefix(got, "shop took the call as a job, which has failed\n{\"a\":\"x x ") || len(got) > MaxErrorBody+200 || !strings.HasSuffix(got, next) {
		t.Errorf("%d: %.100s", len(got), got)
	}
}
