package gateway_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/auth"
	"drawbridge/gateway/inbound"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/task"
	"drawbridge/test/gatewaytest"
)

// tenantService knows no job but those of the tenant that a request names.
type tenantService struct {
	*gatewaytest.JobService

	mu      sync.Mutex
	tenants []string // of each look at a job
}

func (s *tenantService) RoundTrip(r *http.Request) (*http.Response, error) {
	tenant := r.Header.Get("X-Tenant")
	if r.Method == http.MethodGet && r.URL.Host == "jobs.test" {
		s.mu.Lock()
		s.tenants = append(s.tenants, tenant)
		s.mu.Unlock()
		if tenant == "" {
			return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		}
	}
	return s.JobService.RoundTrip(r)
}

const passingConfig = "apis: [{name: reports, spec: $SPEC, base_url: $BASE, pass_headers: [X-Tenant]}]\n" +
	"tools: {callback_urls: [\"https://caller.test\"], callback_secret: secret-of-the-cases}\n"

// TestTaskWatchHeaders holds that whoever listens for a task, or wants to be called when it has ended, has it looked at with the headers of
// his request that go on to the service, long after the request has let go of them.
func TestTaskWatchHeaders(t *testing.T) {
	tenant := map[string]string{"X-Tenant": "blue", "Authorization": "Bearer of-nobody"}
	for name, begin := range map[string]gatewaytest.JobCall{
		"who listens":            {Name: "makeReport", Tasks: true, Header: tenant},
		"who wants to be called": {Name: "makeReport", Tasks: true, Header: tenant, Notify: "https://caller.test/done"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := &tenantService{JobService: gatewaytest.NewJobService(gatewaytest.AcceptedJob + "===\nHTTP/1.1 202 Accepted\n\n===\n" +
					"HTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"status\":\"succeeded\",\"result\":{\"id\":\"r7\"}}\n=== 204\n")}
				g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, passingConfig, service)
				defer func() {
					if err := g.Tasks().Followers.Stop(context.Background()); err != nil {
						t.Error(err)
					}
				}()
				_, messages := gatewaytest.CallJob(t, g, begin, "")
				told := ""
				if begin.Notify == "" {
					_, messages = gatewaytest.CallJob(t, g, gatewaytest.JobCall{Method: "subscriptions/listen", Leave: "20s", Tasks: true, Header: tenant,
						Params: `"notifications":{"taskIds":["$TASK"]}`}, gatewaytest.TaskID(messages[0]))
					told = string(messages[len(messages)-1])
				} else {
					time.Sleep(20 * time.Second)
					told = service.List()
				}
				if !strings.Contains(told, `"status":"completed"`) {
					t.Errorf("told: %s", told)
				}
				if len(service.tenants) < 2 || slices.ContainsFunc(service.tenants, func(name string) bool { return name != "blue" }) {
					t.Errorf("the looks were for %q", service.tenants)
				}
			})
		})
	}
}

// TestTaskWatcherHoldsLittle holds that who listens for long keeps nothing of his request's headers but those that go on to the service.
func TestTaskWatcherHoldsLittle(t *testing.T) {
	g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, passingConfig, gatewaytest.NewJobService("404"))
	e := g.Current().Main
	v := &inbound.Request{Header: http.Header{"X-Tenant": {"blue"}, "Authorization": {"Bearer secret"}}}
	ctx := auth.NewContext(context.WithValue(t.Context(), inbound.Key{}, v), &auth.Principal{Subject: "anna"})
	w := task.NewWatcher(ctx, "id", mcp.Subscriber{Principal: "anna"})
	w.LimitHeader(e.Plan("makeReport"))
	clear(v.Header) // as when its stream waits
	if !maps.EqualFunc(w.Header, http.Header{"X-Tenant": {"blue"}}, slices.Equal) {
		t.Errorf("the watcher has %+v", w)
	}
	if w.Caller.Principal().Subject != "anna" {
		t.Error("it has lost whose it was")
	}
}
