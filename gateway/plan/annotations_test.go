package plan

import (
	"fmt"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/upstream"
)

// TestNewAnnotations holds what follows from the annotations of rules, and which requests may be sent again (pains row 174).
func TestNewAnnotations(t *testing.T) {
	yes, no := new(true), new(false)
	all := func(readOnly, destructive, idempotent bool) catalog.Annotations {
		return catalog.Annotations{ReadOnly: readOnly, Destructive: destructive, Idempotent: idempotent, OpenWorld: true}
	}
	for _, tt := range []struct {
		method string
		set    config.Settings
		want   catalog.Annotations
		retry  upstream.RetryPolicy
	}{
		{"POST", config.Settings{}, all(false, true, false), upstream.RetryByMethod},
		{"POST", config.Settings{Idempotent: yes}, all(false, true, true), upstream.RetryAlways},
		{"PUT", config.Settings{Idempotent: no}, all(false, true, false), upstream.RetryNever},
		{"POST", config.Settings{Annotations: &config.Annotations{ReadOnly: yes}}, all(true, false, true), upstream.RetryAlways},
		{"POST", config.Settings{Annotations: &config.Annotations{Destructive: no}}, all(false, false, false), upstream.RetryByMethod},
		{"GET", config.Settings{Annotations: &config.Annotations{ReadOnly: no}}, all(false, true, false), upstream.RetryNever},
		{"GET", config.Settings{Annotations: &config.Annotations{ReadOnly: no, Destructive: no}}, all(false, false, false), upstream.RetryNever},
		{"GET", config.Settings{Annotations: &config.Annotations{Destructive: yes}}, all(false, true, false), upstream.RetryNever},
		{"GET", config.Settings{Idempotent: yes, Annotations: &config.Annotations{ReadOnly: no}}, all(false, true, true), upstream.RetryAlways},
		{"PUT", config.Settings{Annotations: &config.Annotations{ReadOnly: no}}, all(false, true, true), upstream.RetryByMethod},
		{"DELETE", config.Settings{Annotations: &config.Annotations{ReadOnly: yes}}, all(true, false, true), upstream.RetryAlways},
		{"GET", config.Settings{Annotations: &config.Annotations{OpenWorld: no}}, catalog.Annotations{ReadOnly: true, Idempotent: true}, upstream.RetryByMethod},
	} {
		got, retry := NewAnnotations(tt.method, &tt.set), newRetryPolicy(tt.method, &tt.set, nil)
		if got != tt.want || retry != tt.retry {
			t.Errorf("%s %s: %+v, retry %d, want %+v, %d", tt.method, fmt.Sprint(tt.set.Annotations), got, retry, tt.want, tt.retry)
		}
	}
}
