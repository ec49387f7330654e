package upstream

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// closedAddress returns an address on which nobody listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Requests go to the instances in turn; one that can't be connected to costs no request, not even a POST whose body can't be
// had again, and gets none until it is tried anew.
func TestInstances(t *testing.T) {
	var hits [2]atomic.Int64
	var instances []string
	for i := range hits {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			hits[i].Add(1)
			body, _ := io.ReadAll(r.Body)
			if r.Host != instances[i] || string(body) != "body" {
				w.WriteHeader(http.StatusBadRequest)
			}
		}))
		defer s.Close()
		instances = append(instances, s.Listener.Addr().String())
	}
	instances = append(instances, closedAddress(t))
	base, _ := url.Parse("http://orders.discovered.invalid/v1")
	c := NewClient(Options{Name: "orders", BaseURL: base, Instances: func() []string { return instances }, AllowedAddresses: prefixes("127.0.0.0/8")})
	defer c.Close()
	for range 30 {
		req, _ := http.NewRequest(http.MethodPost, base.String(), io.NopCloser(strings.NewReader("body")))
		resp, requests, err := c.Send(req, RetryNever, LimitHeader)
		if err != nil || resp.StatusCode != 200 || requests != 1 {
			t.Fatal(resp, requests, err)
		}
		if resp.Request.URL.Host != base.Host {
			t.Errorf("the response belongs to %s", resp.Request.URL)
		}
		resp.Body.Close()
	}
	if a, b := hits[0].Load(), hits[1].Load(); a+b != 30 || min(a, b) < 10 {
		t.Errorf("%d and %d requests", a, b)
	}
}

// Without an instance that can be connected to, and without any, a call fails as one to a service that is down. An instance is
// no way around the addresses that are allowed.
func TestNoInstance(t *testing.T) {
	base, _ := url.Parse("http://orders.discovered.invalid")
	for name, c := range map[string]struct {
		instances []string
		allowed   []string
		want      Kind
	}{
		"none":      {nil, nil, Connect},
		"dead":      {[]string{closedAddress(t), closedAddress(t)}, []string{"127.0.0.0/8"}, Connect},
		"forbidden": {[]string{closedAddress(t)}, nil, Refused},
		"metadata":  {[]string{"169.254.169.254:80", "metadata.google.internal"}, []string{"0.0.0.0/0"}, Refused},
	} {
		client := NewClient(Options{Name: "orders", BaseURL: base, Instances: func() []string { return c.instances }, AllowedAddresses: prefixes(c.allowed...)})
		req, _ := http.NewRequest(http.MethodGet, base.String(), http.NoBody)
		_, requests, err := client.Send(req, RetryNever, LimitHeader)
		e, ok := err.(*Error) //nolint:errorlint // it is what Send returns
		if !ok || e.Kind != c.want || requests != 0 {
			t.Errorf("%s: %v, %d requests", name, err, requests)
		}
		client.Close()
	}
}

// An instance that answers 503 is ejected before the breaker of the API opens, and no POST that it got is sent to another one.
func TestInstanceEjected(t *testing.T) {
	var hits [3]atomic.Int64
	var instances []string
	for i := range hits {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if hits[i].Add(1); i == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}))
		defer s.Close()
		instances = append(instances, s.Listener.Addr().String())
	}
	base, _ := url.Parse("http://orders.discovered.invalid")
	var ejected []string
	c := NewClient(Options{
		Name: "orders", BaseURL: base, Instances: func() []string { return instances }, AllowedAddresses: prefixes("127.0.0.0/8"),
		Breaker: Breaker{Failures: 50, Calls: 20, Window: 10 * time.Second, Pause: 5 * time.Second, Probes: 3}, Retries: Retries{Max: 2, Budget: 100},
		OnEject: func(instance string, _ time.Duration) { ejected = append(ejected, instance) },
	})
	defer c.Close()
	const calls = 100
	began := time.Now()
	for range calls {
		req, _ := http.NewRequest(http.MethodPost, base.String(), strings.NewReader("body"))
		resp, requests, err := c.Send(req, RetryNever, LimitHeader)
		if err != nil || requests != 1 {
			t.Fatal(requests, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	probes := int64(time.Since(began) / (5 * time.Second)) // none, unless the machine is slow
	if bad := hits[1].Load(); bad < ejectAfter || bad > ejectAfter+probes || hits[0].Load()+bad+hits[2].Load() != calls {
		t.Errorf("%d, %d and %d requests", hits[0].Load(), bad, hits[2].Load())
	}
	if len(ejected) == 0 || ejected[0] != instances[1] {
		t.Errorf("ejected %v", ejected)
	}
	if n, _ := c.Ejected(); n != 1 && probes == 0 {
		t.Errorf("%d instances are ejected", n)
	}
	if c.State() != Closed {
		t.Error("the breaker is", c.State())
	}
}
