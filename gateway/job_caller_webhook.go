package gateway

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/origin"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi/jsonscan"
)

const (
	// callbackKey is the key of _meta with which a caller requests a webhook at the end of a call's job.
	callbackKey = "drawbridge/callbackUrl"
	// signatureHeader is the header that authenticates the gateway to the caller's webhook: "t=SECONDS,v1=HEX", where HEX is
	// the HMAC-SHA256 of the seconds, a full stop and the body.
	signatureHeader = "Drawbridge-Signature"

	maxReports       = 1024 // jobs with a webhook, in all
	maxReportsOfOne  = 64   // jobs with a webhook, of one caller
	maxReportAnswer  = 4 << 10
	reportTime       = 10 * time.Second
	maxCallbackBytes = 2048 // of a URL
	// crowdedPause is the delay before a large result is fetched again after there was no memory for it.
	crowdedPause = 5 * time.Second
)

// outbound sends webhooks to callers when their jobs have ended. It is immutable except for its connections.
type outbound struct {
	origins []origin.Origin
	secret  []byte
	client  *upstream.Client
	made    config.Tools
}

// newOutbound returns nil if no caller may request a webhook. It takes over from old what has not changed.
func newOutbound(c *config.Config, old *outbound, o Options) *outbound {
	if len(c.Tools.CallbackURLs) == 0 || o.Local {
		return nil
	}
	if old != nil && reflect.DeepEqual(old.made, c.Tools) {
		return old
	}
	out := &outbound{secret: []byte(c.Tools.CallbackSecret.Reveal()), made: c.Tools}
	for _, text := range c.Tools.CallbackURLs {
		if at, ok := origin.Parse(text.String()); ok {
			out.origins = append(out.origins, at)
		}
	}
	out.client = upstream.NewClient(withDefaultLimits(upstream.Options{
		Name: "callback", NamedHosts: config.Hosts(c.Tools.CallbackURLs), Timeout: reportTime, MaxBytes: maxReportAnswer, MaxIdle: 2,
		TracerProvider: o.TracerProvider, UserAgent: "drawbridge/" + o.Version,
	}))
	return out
}

// wanted returns the webhook URL of a request, or nil if it has none. The error is for the client.
func (o *outbound) wanted(req *mcp.Request) (*url.URL, error) {
	value := jsonscan.Lookup(jsonscan.Lookup(req.Params, "_meta"), callbackKey)
	if value == nil {
		return nil, nil //nolint:nilnil // no webhook was requested
	}
	bad := mcp.InvalidParams("params._meta[%q] must be a URL of one of the origins that the operator allows", callbackKey)
	if jsonscan.KindOf(value) != jsonscan.String || len(value) > maxCallbackBytes {
		return nil, bad
	}
	u, err := url.Parse(string(jsonscan.Unquote(value)))
	at, ok := origin.Of(u)
	if err != nil || !ok || u.User != nil || !slices.Contains(o.origins, at) {
		return nil, bad
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// reports are the jobs with a webhook to the caller. Each has a goroutine, which ends with the job or with [reports.stop].
type reports struct {
	ctx    context.Context //nolint:containedctx // of the goroutines, which no request owns
	cancel context.CancelFunc

	mu     sync.Mutex
	all    int
	owners map[string]int
	ended  bool
	group  sync.WaitGroup
}

func newReports() *reports {
	r := &reports{owners: map[string]int{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// begin runs f in its own goroutine. It returns false if there are too many goroutines or stop has been called.
func (r *reports) begin(owner string, f func(ctx context.Context)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.all >= maxReports || owner != "" && r.owners[owner] >= maxReportsOfOne {
		return false
	}
	r.all++
	r.owners[owner]++
	r.group.Go(func() {
		defer func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.all--
			if r.owners[owner]--; r.owners[owner] == 0 {
				delete(r.owners, owner)
			}
		}()
		f(r.ctx)
	})
	return true
}

// stop cancels all goroutines and waits for them until ctx ends.
func (r *reports) stop(ctx context.Context) error {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.cancel()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		r.group.Wait()
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// follow follows the job of a running call and sends the caller's webhook when it has ended. It returns false if no webhook was
// requested or the job can't be followed.
func (c *call) follow(t *task) bool {
	if c.notify == nil || t == nil {
		return false
	}
	followed := c.report(t)
	if !followed {
		c.g.log.Warn("too many jobs are followed, so a caller is not called", "tool", c.plan.Tool.Name)
	}
	return followed
}

// report is follow for a call with a webhook.
func (c *call) report(t *task) bool {
	g, to, out := c.g, *c.notify, c.endpoint.outbound
	w := newTaskWatcher(c.ctx, c.plan, t.id, mcp.Subscriber{Principal: c.req.Principal, Family: mcp.Stateless, Revision: c.req.Revision, Client: c.req.Client})
	caller := callerOf(c.req.Principal, requestInfoFrom(c.ctx))
	follow := func(ctx context.Context) {
		for pause := c.plan.job.Interval; ; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(pause, watchPace)):
			}
			t, rec, err := g.lookAs(ctx, w)
			switch {
			case t == nil:
				g.log.Warn("a job is not followed any more, so its caller is not called", "tool", c.plan.Tool.Name, "error", err)
				return
			case err != nil:
			case rec.final():
				release, ok := g.admission.responses.Hold(ctx, caller, 2*int64(len(rec.Result))) // the result, and the request that contains it
				if !ok {
					pause = crowdedPause // a result too large to be stored is fetched again
					continue
				}
				defer release()
				out.send(ctx, g, &to, t.of(rec), c.plan.Tool)
				return
			default:
				pause = time.Until(rec.Next)
			}
		}
	}
	return g.reports.begin(c.req.Principal, func(ctx context.Context) {
		g.survive("a job was followed", func() { follow(ctx) })
	})
}

// send sends the webhook, and retries it twice if the response is not 2xx.
func (o *outbound) send(ctx context.Context, g *Gateway, to *url.URL, t mcp.Task, tool *catalog.Tool) {
	body := append(t.AppendJSON([]byte("{")), '}')
	for _, pause := range []time.Duration{0, 5 * time.Second, time.Minute} {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		status, err := o.post(ctx, to, body)
		if err == nil && status/100 == 2 {
			return
		}
		g.log.Warn("a caller could not be called", "api", tool.API, "tool", tool.Name, "status", status, "error", err)
	}
}

// post sends one webhook request.
func (o *outbound) post(ctx context.Context, to *url.URL, body []byte) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	seconds := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, o.secret)
	mac.Write([]byte(seconds + "."))
	mac.Write(body)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(signatureHeader, "t="+seconds+",v1="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := o.client.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}
