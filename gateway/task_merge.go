package gateway

import (
	"encoding/json"
	"slices"

	"drawbridge/gateway/job"
)

// mergeTasks adds to what is known of a task what was done to it at a replica that did not know that. Of what a service has called with, which is
// kept in the same place, nothing is added.
func mergeTasks(value, other []byte) []byte {
	var rec, more taskRecord
	if json.Unmarshal(value, &rec) != nil || json.Unmarshal(other, &more) != nil || !rec.learn(&more) {
		return value
	}
	merged, err := json.Marshal(&rec)
	if err != nil {
		return value
	}
	return merged
}

// learn takes over what no look can find again: which questions were answered, what was wrong with answers, and that the task was called off.
// false: all of that is known.
func (r *taskRecord) learn(other *taskRecord) (learned bool) {
	for _, key := range other.Answered {
		if !slices.Contains(r.Answered, key) {
			r.Answered, learned = append(r.Answered, key), true
			delete(r.Refused, key)
		}
	}
	for key, why := range other.Refused {
		if r.Refused[key] == "" && !slices.Contains(r.Answered, key) {
			if r.Refused == nil {
				r.Refused = map[string]string{}
			}
			r.Refused[key], learned = why, true
		}
	}
	if other.Called && !r.Called {
		r.Called, learned = true, true
	}
	if !learned {
		return false
	}
	r.ask(slices.DeleteFunc(r.Questions, func(q job.Question) bool { return slices.Contains(r.Answered, q.Key) }))
	if other.Updated.After(r.Updated) {
		r.Updated = other.Updated
	}
	if other.Next.Before(r.Next) {
		r.Next = other.Next
	}
	return true
}
