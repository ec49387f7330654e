package plan

import (
	"testing"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/job"
	"drawbridge/openapi"
)

// TestLinkedRequests holds that a request that a link may not name is taken out of a copy of the job: the definition that
// was compiled first stays as it is.
func TestLinkedRequests(t *testing.T) {
	status := &openapi.Operation{Method: "GET", Path: "/jobs/{id}"}
	compiled := &job.Definition{Status: &job.Request{Operation: status, Method: "GET", Linked: true}, Questions: &job.Questions{
		Answer: &job.Request{Operation: &openapi.Operation{Method: "POST", Path: "/jobs/{id}"}, Method: "POST", Linked: true},
	}}
	one := &draft{candidate: &candidate{operation: &openapi.Operation{Method: "POST", Path: "/jobs"}, job: compiled}}
	j, wrong := checkJob(one, drafts{}, nil)
	if len(wrong) > 0 || j.Status != nil || j.Questions.Answer != nil {
		t.Errorf("job %+v, faults %v: want no requests and no faults", j, wrong)
	}
	if compiled.Status == nil || compiled.Questions.Answer == nil {
		t.Error("the compiled definition has changed")
	}
	all := drafts{byOperation: map[*openapi.Operation]*draft{status: {candidate: &candidate{operation: status}, definition: &catalog.Tool{}, safe: true}}}
	if j, _ := checkJob(one, all, nil); j.Status == nil {
		t.Error("a status request that is a safe tool was removed")
	}
}
