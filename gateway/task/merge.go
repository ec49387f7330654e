package task

import (
	"encoding/json"
	"slices"

	"drawbridge/gateway/job"
)

// Merge merges into a task's record the changes made at a replica that did not know that record. Callback records, which
// are in the same store, are left unchanged.
func Merge(value, other []byte) []byte {
	var rec, more Record
	if json.Unmarshal(value, &rec) != nil || json.Unmarshal(other, &more) != nil || !rec.learn(&more) {
		return value
	}
	merged, err := json.Marshal(&rec)
	if err != nil {
		return value
	}
	return merged
}

// learn takes over the facts that polling can't recover: answered questions, faults of answers, and cancellation. It returns
// false if all of them are known.
func (r *Record) learn(other *Record) (learned bool) {
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
