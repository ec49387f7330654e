package render

import (
	"fmt"
	"net/url"
	"time"

	"drawbridge/gateway/job"
	"drawbridge/gateway/redact"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/text"
)

// FailedJob returns the text about a job that has ended without success, in the service's words. body is that of its
// last status, or nil.
func FailedJob(api string, last *job.Report, body []byte, r redact.Redactor) string {
	message := api + " took the call as a job, which has failed"
	if last.State == job.Cancelled {
		message = api + " took the call as a job, which was cancelled"
	}
	if last.Word != "" {
		message += " (" + last.Word + ")"
	}
	if last.Message != "" {
		message += ": " + last.Message
	}
	if body != nil {
		body, room := answer.CleanData(body), MaxErrorBody+r.Longest()
		redacted := r.Error(string(body[:min(len(body), room)]), len(body) > room)
		message += "\n" + text.Truncate(redacted, MaxErrorBody)
	}
	return message + "\nLook at what the service says; the same call may need other arguments, or work later."
}

// RunningJob is a job that had not ended when its call timed out.
type RunningJob struct {
	API        string
	After      time.Duration // since the job began
	Last       *job.Report   // latest status; nil if the service does not know the URL that it returned
	StatusTool string        // tool that reports the status; "" if the caller may call none
	StatusArgs []byte        // arguments of StatusTool
	URL        *url.URL      // URL of the status at the service, or nil
	Webhook    bool          // the result is delivered to the caller's webhook
}

// Text returns the text about the job, with instructions to follow it.
func (j *RunningJob) Text(r redact.Redactor) string {
	message := j.API + " has taken this call as a job, which goes on"
	switch {
	case j.Last == nil:
		message = j.API + " has taken this call as a job, and does not say how it stands"
	case j.Last.Word != "":
		message += fmt.Sprintf(": after %s its state is %q", roughly(j.After), j.Last.Word)
	default:
		message += fmt.Sprintf(": it had not ended after %s", roughly(j.After))
	}
	if last := j.Last; last != nil {
		if last.Message != "" {
			message += fmt.Sprintf(" (%s)", last.Message)
		}
		if last.Progress > 0 && last.Total > 0 {
			message += fmt.Sprintf(", %.0f of %.0f", last.Progress, last.Total)
		}
		if len(last.Questions) > 0 {
			message += ". It waits for answers that this client can't give (it does not support tasks)"
			for _, q := range last.Questions {
				message += "; it asks: " + q.Message
			}
		}
	}
	message += ". Do not make the same call again, which would begin another job. "
	if j.StatusTool != "" {
		message += fmt.Sprintf("To see how it stands, call the tool %s with the arguments %s.", j.StatusTool, j.StatusArgs)
	} else {
		message += "Tell the user that the result is not known yet"
		if j.URL != nil {
			message += ", and that the service has it at " + text.Truncate(r.Text(j.URL.EscapedPath()), 200)
		}
		message += "; a tool that reads it may be among yours."
	}
	if j.Webhook {
		message += " The URL that the caller gave will be called with the result."
	}
	return message
}

// roughly describes a duration in words.
func roughly(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than a second"
	case d < 2*time.Second:
		return "1 second"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d seconds", int(d.Seconds()))
	}
	return fmt.Sprintf("%d minutes", int(d.Minutes()))
}
